// `cell`, which is std's own.

use subject::cell::{
    BorrowError, BorrowMutError, Cell, LazyCell, OnceCell, Ref, RefCell, RefMut, UnsafeCell,
};

const CELLS: (Cell<u8>, RefCell<u8>, OnceCell<u8>, UnsafeCell<u8>) =
    (Cell::new(1), RefCell::new(1), OnceCell::new(), UnsafeCell::new(1));

fn cell(mut cell: Cell<u8>, other: &Cell<u8>) -> u8 {
    cell.set(cell.get());
    cell.swap(other);
    cell.update(|old| old + 1);
    let (old, taken) = (cell.replace(1), cell.take());
    let (place, inside): (*mut u8, &mut u8) = (cell.as_ptr(), cell.get_mut());
    let parts = Cell::from_mut(&mut [1, 2][..]).as_slice_of_cells().len();
    let order = cell.partial_cmp(other);
    cell.into_inner()
}

fn ref_cell(cell: &RefCell<(u8, u8)>) -> Result<(), BorrowError> {
    let part: Ref<'_, u8> = Ref::map(cell.borrow(), |it| &it.0);
    let parts = Ref::map_split(Ref::clone(&cell.try_borrow()?), |it| (&it.0, &it.1));
    let part: RefMut<'_, u8> = RefMut::map(cell.borrow_mut(), |it| &mut it.0);
    let tried: Result<RefMut<'_, (u8, u8)>, BorrowMutError> = cell.try_borrow_mut();
    let filtered = Ref::filter_map(cell.borrow(), |it| Some(&it.0)).ok();
    let old = cell.replace_with(|it| *it);
    cell.swap(&RefCell::default());
    Ok(())
}

fn lazily(once: &OnceCell<u8>, lazy: &LazyCell<u8>) {
    let (there, set) = (once.get(), once.set(1));
    let value: &u8 = once.get_or_init(|| 1);
    let value: &u8 = LazyCell::force(lazy);
}

fn unprotected(cell: &mut UnsafeCell<u8>) -> *mut u8 {
    let inside: &mut u8 = cell.get_mut();
    let place: *mut u8 = UnsafeCell::raw_get(cell);
    cell.get()
}

lacks!(Cell<u8>: Sync);
lacks!(UnsafeCell<u8>: Sync);
