//! Locks between processes of seqz that write to the same place.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::error::Error;

/// The time before the lock is tried again.
const PAUSE: Duration = Duration::from_millis(50);

/// A lock that is held until it is dropped. The system releases the lock when its process dies in any way.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the lock that is the file `path`, and writes into the file which process holds it. `None`: `stop` was set
/// while another process held the lock.
///
/// `waiting` is called once with the name of that process.
///
/// # Errors
/// Errors of the file system.
pub fn take(
    path: &Path,
    stop: &AtomicBool,
    waiting: impl FnOnce(&str),
) -> Result<Option<Lock>, Error> {
    let failed = |what| {
        move |source| Error::File {
            what,
            path: path.to_owned(),
            source,
        }
    };
    let mut file = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
        .map_err(failed("open"))?;
    let mut waiting = Some(waiting);
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(failed("lock")(source)),
        }
        if let Some(waiting) = waiting.take() {
            waiting(&holder(&mut file));
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        thread::sleep(PAUSE);
    }
    // A failure to name the holder does not weaken the lock.
    let _ = sign(&mut file);
    Ok(Some(Lock { _file: file }))
}

fn sign(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    let words: Vec<_> = std::env::args().skip(1).collect();
    write!(
        file,
        "`seqz {}`, process {}",
        words.join(" "),
        std::process::id()
    )
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file
        .seek(SeekFrom::Start(0))
        .and_then(|_| file.read_to_string(&mut text));
    match read {
        Ok(1..) => text.chars().filter(|c| !c.is_control()).collect(),
        _ => "another seqz".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_hears_of_the_first_and_waits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        let held = take(&path, &go, |_| panic!("nobody holds it"))
            .unwrap()
            .unwrap();
        let mut who = String::new();
        let second = take(&path, &stop, |holder| who = holder.to_owned()).unwrap();
        assert!(second.is_none());
        assert!(who.contains(&std::process::id().to_string()), "{who}");
        drop(held);
        assert!(
            take(&path, &stop, |_| panic!("it is free"))
                .unwrap()
                .is_some()
        );
    }
}
