//! Two copies of a program that schedules meetings: `../meeting.rs` with the bug taken out.
//!
//! Whoever looks for an hour holds the `office` until the meeting is booked and confirmed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const HOURS: usize = 3;
const FREE: u32 = 0;

/// What one person does at each hour: [`FREE`] or the number of a meeting.
#[derive(Default)]
struct Calendar {
    hours: [AtomicU32; HOURS],
}

impl Calendar {
    fn is_free(&self, hour: usize) -> bool {
        self.hours[hour].load(Ordering::SeqCst) == FREE
    }

    fn book(&self, hour: usize, meeting: u32) {
        self.hours[hour].store(meeting, Ordering::SeqCst);
    }

    fn attends(&self, hour: usize, meeting: u32) -> bool {
        self.hours[hour].load(Ordering::SeqCst) == meeting
    }
}

/// Books the first hour at which all guests are free, and sends the confirmations.
fn schedule(office: &Mutex<()>, meeting: u32, guests: &[&Calendar]) -> Option<usize> {
    let _open = office.lock().unwrap();
    let hour = (0..HOURS).find(|&hour| guests.iter().all(|guest| guest.is_free(hour)))?;
    for guest in guests {
        guest.book(hour, meeting);
    }
    for guest in guests {
        assert!(
            guest.attends(hour, meeting),
            "a guest of meeting {meeting} is booked for another one"
        );
    }
    Some(hour)
}

#[test]
fn two_schedulers_share_a_guest() {
    let office = Arc::new(Mutex::new(()));
    let ada = Arc::new(Calendar::default());
    let bob = Arc::new(Calendar::default());
    let eve = Arc::new(Calendar::default());
    let first = {
        let office = Arc::clone(&office);
        let (ada, bob) = (Arc::clone(&ada), Arc::clone(&bob));
        thread::Builder::new()
            .name("first copy".into())
            .spawn(move || schedule(&office, 1, &[&ada, &bob]))
            .unwrap()
    };
    let second = {
        let office = Arc::clone(&office);
        let (bob, eve) = (Arc::clone(&bob), Arc::clone(&eve));
        thread::Builder::new()
            .name("second copy".into())
            .spawn(move || schedule(&office, 2, &[&bob, &eve]))
            .unwrap()
    };
    assert!(first.join().unwrap().is_some(), "the day has hours enough");
    assert!(second.join().unwrap().is_some(), "the day has hours enough");
}
