//! Calls that can be left from anywhere inside of them: no code of the functions in between runs any more.
//!
//! An execution that ends before its program does is left so, as a process that ends is: what the program's destructors
//! would do then is not the program's doing. This holds on x86-64; on other processors, executions are unwound.
//!
//! What is left behind on the stack is not dropped, as what is on the stack of a thread that never ends. Memory that
//! the left functions have allocated is given back with all of the execution's memory, or is lost.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::NonNull;

/// Whether calls can be left here.
pub(crate) const CAN_BE_LEFT: bool = cfg!(all(target_arch = "x86_64", not(miri)));

/// One call.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// The address of the stack's top when the call was made.
    stack: Cell<usize>,
}

impl Frame {
    /// Calls `body`, which must not unwind. Returns whether `body` has come to its end, and has not been left.
    #[inline]
    pub(crate) fn call<F: FnMut()>(&self, body: &mut F) -> bool {
        unsafe extern "C" fn run<F: FnMut()>(body: *mut c_void) {
            // SAFETY: the pointer is to the `body` that `call` has borrowed.
            let body = unsafe { &mut *body.cast::<F>() };
            body();
        }
        // SAFETY: the function takes a pointer to `body`, which lives until the call is over.
        unsafe { stack::call(run::<F>, (&raw mut *body).cast(), self.stack.as_ptr()) == 0 }
    }

    /// Leaves the call.
    ///
    /// # Safety
    /// The call is not over. No code uses what has come onto the stack since, or relies on its having been dropped.
    pub(crate) unsafe fn leave(frame: NonNull<Self>) -> ! {
        forget_poisoned_stack();
        // SAFETY: the caller's promise.
        unsafe { stack::leave(frame.as_ref().stack.get()) }
    }
}

/// AddressSanitizer marks parts of the stack until their functions are over: this tells it that they are over.
fn forget_poisoned_stack() {
    #[cfg(target_os = "linux")]
    {
        use std::sync::OnceLock;
        unsafe extern "C" {
            fn dlsym(library: *mut c_void, name: *const std::ffi::c_char) -> *mut c_void;
        }
        static FOUND: OnceLock<Option<unsafe extern "C" fn()>> = OnceLock::new();
        let found = FOUND.get_or_init(|| {
            // SAFETY: the name ends with a zero byte, as C's names do.
            let found = unsafe { dlsym(std::ptr::null_mut(), c"__asan_handle_no_return".as_ptr()) };
            // SAFETY: the sanitizer's function of this name has this type; null is `None`.
            unsafe { std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn()>>(found) }
        });
        if let Some(forget) = found {
            // SAFETY: the function exists for code that leaves functions without returning.
            unsafe { forget() };
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod stack {
    use std::arch::{asm, naked_asm};
    use std::ffi::c_void;

    /// Calls `run` with `data`, having noted in `stack` where that is. Returns 0 where `run` returns, and 1 where the
    /// call is left.
    #[inline(always)]
    pub(super) unsafe fn call(
        run: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
        stack: *mut usize,
    ) -> usize {
        let is_left;
        // SAFETY: the caller's promise. The registers that `within` changes are declared.
        unsafe {
            asm!(
                "call {within}",
                within = sym within,
                in("rdi") run,
                in("rsi") data,
                in("rdx") stack,
                lateout("rax") is_left,
                lateout("r12") _,
                lateout("r13") _,
                lateout("r14") _,
                lateout("r15") _,
                clobber_abi("C"),
            );
        }
        is_left
    }

    /// Keeps the registers that its caller needs, notes where they are, and calls. An unwinder or a backtrace gets no
    /// further than to this function, which is not the program's code.
    #[unsafe(naked)]
    unsafe extern "C" fn within(
        run: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
        stack: *mut usize,
    ) -> usize {
        naked_asm!(
            "push rbp",
            "mov rbp, rsp",
            "push rbx",
            "sub rsp, 8",
            "mov [rdx], rsp",
            "mov rax, rdi",
            "mov rdi, rsi",
            "call rax",
            "xor eax, eax",
            "add rsp, 8",
            "pop rbx",
            "pop rbp",
            "ret",
        )
    }

    /// Returns from the call that has noted this stack.
    #[unsafe(naked)]
    pub(super) unsafe extern "C" fn leave(stack: usize) -> ! {
        naked_asm!(
            "mov rsp, rdi",
            "mov eax, 1",
            "add rsp, 8",
            "pop rbx",
            "pop rbp",
            "ret",
        )
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod stack {
    use std::ffi::c_void;

    pub(super) unsafe fn call(
        run: unsafe extern "C" fn(*mut c_void),
        data: *mut c_void,
        _stack: *mut usize,
    ) -> usize {
        // SAFETY: the caller's promise.
        unsafe { run(data) };
        0
    }

    pub(super) unsafe fn leave(_stack: usize) -> ! {
        unreachable!("calls are not left here")
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_left_from_within_others() {
        struct Dropped<'a>(&'a Cell<u32>);
        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        #[inline(never)]
        fn within(depth: u32, dropped: &Cell<u32>, frame: Option<NonNull<Frame>>) {
            let _dropped = Dropped(dropped);
            if depth > 0 {
                within(depth - 1, dropped, frame);
            } else if let Some(frame) = frame {
                // SAFETY: the call below is not over, and nothing above it is used again.
                unsafe { Frame::leave(frame) }
            }
        }
        let dropped = Cell::new(0);
        let (outer, inner) = (Frame::default(), Frame::default());
        assert!(outer.call(&mut || within(3, &dropped, None)));
        assert_eq!(dropped.replace(0), 4);
        let before = Cell::new(0.5_f64);
        assert!(outer.call(&mut || {
            let kept = before.get();
            assert!(!inner.call(&mut || within(3, &dropped, Some(NonNull::from(&inner)))));
            before.set(kept + 1.0);
        }));
        assert_eq!((dropped.get(), before.get()), (0, 1.5));
        let mut leave_both = || {
            inner.call(&mut || within(3, &dropped, Some(NonNull::from(&outer))));
            dropped.set(100);
        };
        assert!(!outer.call(&mut leave_both));
        assert_eq!(dropped.get(), 0);
    }
}
