//! Files from which a search goes on: what the search knows is appended in frames as it comes to know it, and a frame
//! that a kill has torn is left out.
//!
//! ```text
//! seqz checkpoint 8\n    then frames: length of the body (u32), digest of the body (u64), both little-endian, the body
//! ```
//! The body of the first frame says what the search is: names and values, all of which have to be the same for going on.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::vocabulary::Wire;

const MAGIC: &[u8] = b"seqz checkpoint 8\n";

/// Names and values that tell a search from others.
pub type Fields = Vec<(String, String)>;

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The names and values of the search; `None` if there is no search yet.
    pub fields: Option<Fields>,
    /// The bodies of all other frames.
    pub bodies: Vec<Vec<u8>>,
    /// The offset of the last whole frame's end, in bytes.
    pub length: u64,
    /// The number of bytes after that: what a kill has torn off, or what is behind a damaged place.
    pub lost: u64,
}

/// A digest of bytes, against damage and for telling files apart, not against malice (FNV-1a).
#[must_use]
pub fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

fn frame(body: &[u8]) -> io::Result<Vec<u8>> {
    let length = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend_from_slice(&digest(body).to_le_bytes());
    frame.extend_from_slice(body);
    Ok(frame)
}

/// The first frame's body and what is behind it, if it is whole.
fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let (body, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    (digest(body) == u64::from_le_bytes(*sum)).then_some((body, rest))
}

fn parse(bytes: &[u8]) -> io::Result<Contents> {
    let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
        // A kill may have come that early.
        return if MAGIC.starts_with(bytes) {
            Ok(Contents::default())
        } else {
            Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it is no checkpoint of this version of seqz",
            ))
        };
    };
    let mut contents = Contents::default();
    while let Some((body, more)) = split(rest) {
        if contents.fields.is_none() {
            contents.fields = Some(Fields::decode(body).map_err(io::Error::other)?);
        } else {
            contents.bodies.push(body.to_vec());
        }
        contents.length = (bytes.len() - more.len()) as u64;
        rest = more;
    }
    contents.lost = rest.len() as u64;
    Ok(contents)
}

/// The content of a file. A file that does not exist holds nothing.
///
/// # Errors
/// When the file can't be read, or is no checkpoint.
pub fn read(path: &Path) -> io::Result<Contents> {
    match std::fs::read(path) {
        Ok(bytes) => parse(&bytes),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Contents::default()),
        Err(e) => Err(e),
    }
}

/// A file that is being written.
#[derive(Debug)]
pub struct Checkpoint {
    file: File,
    body: Vec<u8>,
    trouble: Option<String>,
}

/// The number of waits for the worker of a killed search to end, and the length of each.
const TRIES: (u32, Duration) = (200, Duration::from_millis(50));

impl Checkpoint {
    /// Opens a file to go on with, and reads what is in it.
    ///
    /// # Errors
    /// When the file can't be opened, belongs to another search, or is being written by another process.
    pub fn open(path: &Path, fields: &Fields) -> io::Result<(Self, Contents)> {
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let mut tries = TRIES.0;
        while file.try_lock().is_err() {
            tries = tries
                .checked_sub(1)
                .ok_or_else(|| io::Error::other("another search is writing it"))?;
            thread::sleep(TRIES.1);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let contents = parse(&bytes)?;
        match &contents.fields {
            None => {
                file.set_len(0)?;
                file.seek(SeekFrom::Start(0))?;
                let mut start = MAGIC.to_vec();
                start.extend(frame(&fields.encode())?);
                file.write_all(&start)?;
            }
            Some(known) if known == fields => {
                file.set_len(contents.length)?;
                file.seek(SeekFrom::Start(contents.length))?;
            }
            Some(_) => return Err(io::Error::other("it is the checkpoint of another search")),
        }
        let checkpoint = Self {
            file,
            body: Vec::new(),
            trouble: None,
        };
        Ok((checkpoint, contents))
    }

    /// Adds a value to the next frame.
    pub fn note(&mut self, what: &impl Wire) {
        if self.trouble.is_none() {
            what.put(&mut self.body);
        }
    }

    /// Writes the frame. A kill of this process does not take back what has been written.
    pub fn flush(&mut self) {
        if self.body.is_empty() || self.trouble.is_some() {
            return;
        }
        let written = frame(&self.body).and_then(|frame| self.file.write_all(&frame));
        self.body.clear();
        self.trouble = written.err().map(|error| error.to_string());
    }

    /// The reason why nothing is written any more, if that is so.
    #[must_use]
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(value: &str) -> Fields {
        vec![("program".into(), value.into())]
    }

    #[test]
    fn what_is_written_is_there_and_what_is_torn_is_not() {
        let dir = std::env::temp_dir().join(format!("seqz-checkpoint-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("torn");
        let _ = std::fs::remove_file(&path);
        assert_eq!(read(&path).unwrap(), Contents::default());
        let (mut checkpoint, _) = Checkpoint::open(&path, &fields("a")).unwrap();
        for number in [1_u32, 2, 3] {
            checkpoint.note(&number);
            checkpoint.note(&(number * 100));
            checkpoint.flush();
        }
        drop(checkpoint);
        let whole = std::fs::read(&path).unwrap();
        let bodies: Vec<_> = [1_u32, 2, 3]
            .map(|number| (number, number * 100).encode())
            .to_vec();
        let all = read(&path).unwrap();
        assert_eq!(all.fields, Some(fields("a")));
        assert_eq!(all.bodies, bodies);
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let torn = read(&path).unwrap();
            assert!(torn.bodies.len() < 3 && bodies.starts_with(&torn.bodies));
            // The file is gone on with where it is whole.
            let (mut checkpoint, before) = Checkpoint::open(&path, &fields("a")).unwrap();
            assert_eq!(before.bodies, torn.bodies);
            checkpoint.note(&7_u32);
            checkpoint.flush();
            drop(checkpoint);
            let after = read(&path).unwrap().bodies;
            assert_eq!(after.len(), torn.bodies.len() + 1);
            assert_eq!(after.last(), Some(&7_u32.encode()));
        }
        // Damage is no end that can be trusted beyond.
        let mut damaged = whole.clone();
        let at = damaged.len() - 1;
        damaged[at] ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        let left = read(&path).unwrap();
        assert_eq!(left.bodies, bodies[..2]);
        assert_eq!(left.length + left.lost, damaged.len() as u64);
        assert!(left.lost > 0 && all.lost == 0);
        std::fs::write(&path, &whole).unwrap();
        assert!(Checkpoint::open(&path, &fields("b")).is_err());
        std::fs::write(&path, "something else").unwrap();
        assert!(read(&path).is_err());
        assert!(Checkpoint::open(&path, &fields("a")).is_err());
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
