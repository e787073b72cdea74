#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread;

    #[test]
    fn three_clerks_swap_seats() {
        let seats = [Mutex::new(0), Mutex::new(1), Mutex::new(2)];
        let seats = &seats;
        thread::scope(|scope| {
            for clerk in 0..3 {
                scope.spawn(move || {
                    let mut mine = seats[clerk].lock().unwrap();
                    let mut next = seats[(clerk + 1) % 3].lock().unwrap();
                    std::mem::swap(&mut *mine, &mut *next);
                });
            }
        });
    }
}
