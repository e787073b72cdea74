//! The connection to a worker: frames, each of a length (four bytes, little-endian) and that number of bytes.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// The length of the longest message, in bytes; a longer length means that the peer is no worker.
const LONGEST: usize = 1 << 30;

/// One end of the connection.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    received: Vec<u8>,
}

/// What a wait for a frame ended with.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// A whole frame.
    Frame(Vec<u8>),
    /// Nothing came within the time of the wait.
    Nothing,
    /// The peer has closed the connection.
    Closed,
}

impl Connection {
    /// Takes over the stream.
    #[must_use]
    pub const fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            received: Vec::new(),
        }
    }

    /// Sends one frame.
    ///
    /// # Errors
    /// When the peer has closed the connection.
    pub fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
        let mut message = length.to_le_bytes().to_vec();
        message.extend_from_slice(frame);
        self.stream.write_all(&message)
    }

    /// Waits for one frame.
    ///
    /// # Errors
    /// When the stream fails, or the bytes are no frame.
    pub fn receive(&mut self, patience: Duration) -> io::Result<Received> {
        let until = Instant::now() + patience;
        let mut chunk = vec![0; 1 << 16];
        loop {
            if let Some(frame) = self.take()? {
                return Ok(Received::Frame(frame));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Received::Nothing);
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(Received::Closed),
                Ok(n) => self.received.extend_from_slice(&chunk[..n]),
                Err(e)
                    if matches!(
                        e.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    return Ok(Received::Nothing);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e)
                    if matches!(
                        e.kind(),
                        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
                    ) =>
                {
                    return Ok(Received::Closed);
                }
                Err(e) => return Err(e),
            }
        }
    }

    fn take(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some((length, rest)) = self.received.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > LONGEST {
            return Err(io::Error::other(format!("a frame of {length} bytes")));
        }
        let Some(frame) = rest.get(..length) else {
            return Ok(None);
        };
        let frame = frame.to_vec();
        self.received.drain(..4 + length);
        Ok(Some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(10);
    const SHORT: Duration = Duration::from_millis(20);

    #[test]
    fn frames_arrive_whole_however_they_are_cut() -> io::Result<()> {
        let (mut far, near) = UnixStream::pair()?;
        let mut near = Connection::new(near);
        far.write_all(&[3, 0])?;
        assert_eq!(near.receive(SHORT)?, Received::Nothing);
        far.write_all(&[0, 0, 1, 2])?;
        assert_eq!(near.receive(SHORT)?, Received::Nothing);
        far.write_all(&[3, 0, 0, 0, 0, 1, 0, 0, 0, 9])?;
        assert_eq!(near.receive(LONG)?, Received::Frame(vec![1, 2, 3]));
        assert_eq!(near.receive(LONG)?, Received::Frame(vec![]));
        assert_eq!(near.receive(LONG)?, Received::Frame(vec![9]));
        drop(far);
        assert_eq!(near.receive(LONG)?, Received::Closed);
        Ok(())
    }

    #[test]
    fn sends_what_it_can_receive() -> io::Result<()> {
        let (far, near) = UnixStream::pair()?;
        let (mut far, mut near) = (Connection::new(far), Connection::new(near));
        far.send(b"hello")?;
        assert_eq!(near.receive(LONG)?, Received::Frame(b"hello".to_vec()));
        Ok(())
    }

    #[test]
    fn nonsense_is_refused() -> io::Result<()> {
        let (mut far, near) = UnixStream::pair()?;
        far.write_all(&[255; 8])?;
        assert!(Connection::new(near).receive(LONG).is_err());
        Ok(())
    }
}
