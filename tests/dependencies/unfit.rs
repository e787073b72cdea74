use std::sync::Mutex;

pub trait Counts: Send {
    fn count(&mut self) -> u32;
}

pub struct Shared(Box<Mutex<dyn Counts>>);

struct Plain(u32);

impl Counts for Plain {
    fn count(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }
}

pub fn shared() -> Shared {
    Shared(Box::new(Mutex::new(Plain(0))))
}

impl Shared {
    pub fn count(&self) -> u32 {
        self.0.lock().unwrap().count()
    }
}
