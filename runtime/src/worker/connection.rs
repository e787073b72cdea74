//! The worker's end of the connection to the driver, typed by the conversation that it carries.

use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, PoisonError};

use super::message::{Conversation, Reply, Stopped};
use crate::vocabulary::Wire;

/// The worker's end of a connection on which the driver has sent a request of this kind.
pub(super) struct Connection<C> {
    stream: UnixStream,
    /// Held while a frame is written.
    writing: Arc<Mutex<()>>,
    /// Whether the driver is told what the program asks of the system: where more than one reply is expected.
    tells_asked: bool,
    conversation: PhantomData<fn() -> C>,
}

/// Reads a frame.
///
/// # Errors
/// When the connection is closed, or the bytes are no message.
pub(super) fn receive<V: Wire>(stream: &mut UnixStream) -> io::Result<V> {
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let mut body = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut body)?;
    V::decode(&body).map_err(io::Error::other)
}

impl<C: Conversation> Connection<C> {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            writing: Arc::default(),
            tells_asked: false,
            conversation: PhantomData,
        }
    }

    /// Another handle of the same connection.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            stream: self.stream.try_clone()?,
            writing: Arc::clone(&self.writing),
            tells_asked: self.tells_asked,
            conversation: PhantomData,
        })
    }

    /// The stream, and what is held while a frame is written to it.
    pub(super) fn into_parts(self) -> (UnixStream, Arc<Mutex<()>>) {
        (self.stream, self.writing)
    }

    /// Sends a reply of this conversation, and before it what the program has asked of the system since the last one.
    ///
    /// # Errors
    /// When the driver is gone.
    pub(super) fn send(&mut self, reply: C::Reply) -> io::Result<()> {
        self.tell(&Reply::Own(reply))
    }

    /// Sends why the worker can't go on.
    ///
    /// # Errors
    /// When the driver is gone.
    pub(super) fn stop(&mut self, why: Stopped) -> io::Result<()> {
        self.tell(&Reply::Stopped(why))
    }

    /// Sends why the request can't be served.
    ///
    /// # Errors
    /// When the driver is gone.
    pub(super) fn refuse(&mut self, why: impl Into<String>) -> io::Result<()> {
        self.stop(Stopped::Refused(why.into()))
    }

    /// Tells what an execution may leave behind, and from here on what the program asks of the system.
    ///
    /// # Errors
    /// When the driver is gone.
    pub(super) fn tell_left_behind(&mut self) -> io::Result<()> {
        {
            self.tells_asked = true;
            let left = crate::process::left_behind(&mut crate::alone::alone());
            if !left.is_empty() {
                return self.tell(&Reply::LeftBehind(left));
            }
        }
        Ok(())
    }

    /// Waits for the answer to what was asked.
    ///
    /// # Errors
    /// When the driver is gone, or says something else.
    pub(super) fn answer(&mut self) -> io::Result<C::Answer> {
        receive(&mut self.stream)
    }

    fn tell(&mut self, reply: &Reply<C::Reply>) -> io::Result<()> {
        if self.tells_asked {
            let asked = crate::process::asked::take();
            if !asked.is_empty() {
                self.write(&Reply::Asked(asked))?;
            }
        }
        self.write(reply)
    }

    fn write(&mut self, reply: &Reply<C::Reply>) -> io::Result<()> {
        let body = reply.encode();
        let length = u32::try_from(body.len()).map_err(io::Error::other)?;
        let mut frame = length.to_le_bytes().to_vec();
        frame.extend_from_slice(&body);
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.stream.write_all(&frame)
    }
}
