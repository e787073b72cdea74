use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Sells the seats of one show.
pub struct Desk {
    left: AtomicU32,
    sold: AtomicU32,
}

impl Desk {
    pub fn new(seats: u32) -> Desk {
        Desk {
            left: AtomicU32::new(seats),
            sold: AtomicU32::new(0),
        }
    }

    pub fn sell(&self) -> bool {
        let mut seen = self.left.load(SeqCst);
        while seen > 0 {
            match self.left.compare_exchange(seen, seen - 1, SeqCst, SeqCst) {
                Ok(_) => {
                    self.sold.fetch_add(1, SeqCst);
                    return true;
                }
                Err(now) => seen = now,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn the_last_seat_is_sold_once() {
        let desk = Desk::new(1);
        thread::scope(|scope| {
            scope.spawn(|| desk.sell());
            desk.sell();
        });
        assert_eq!(desk.sold.load(SeqCst), 1, "a seat is sold twice");
    }
}
