//! The `main` of a generated crate: a worker of the driver, or a small command line of its own.

pub mod checkpoint;
mod command_line;
#[cfg(feature = "scheduler")]
mod explore;
mod fuzzing;
pub mod message;
mod search;
mod simplify;
pub mod stuck;
pub mod wire;

use std::env;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use message::{Reply, Request};
use wire::Wire;

use crate::fuzz::Generated;
use crate::harness::AnyHarness;

/// The environment variable that names the driver's socket.
pub const SOCKET: &str = "SEQZ_SOCKET";

/// The `main` of a generated crate.
///
/// Under the driver it serves requests. Otherwise it runs P̂ₖ once, with what the command line says.
#[must_use]
pub fn main(generated: Generated) -> ExitCode {
    #[cfg(feature = "scheduler")]
    crate::process::install(&mut crate::alone::alone());
    let Some(path) = env::var_os(SOCKET) else {
        return command_line::run(generated, env::args().skip(1).collect());
    };
    stuck::listen();
    let served = UnixStream::connect(path)
        .and_then(|stream| serve(Connection::new(stream), generated.harnesses));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

/// Serves the one request that comes.
fn serve(mut connection: Connection, harnesses: &[&dyn AnyHarness]) -> io::Result<()> {
    let request = connection.receive()?;
    let name = match &request {
        Request::Check(request) => &request.harness,
        Request::Explore(request) => &request.harness,
        Request::Replay(request) => &request.harness,
        Request::Decode(request) => &request.harness,
        Request::Seeds(request) => &request.harness,
        Request::Simplify(request) => &request.harness,
        Request::Verdict(_) | Request::Solved(_) => {
            return connection.send(&Reply::Refused(
                "a verdict that nobody asked for".to_owned(),
            ));
        }
    };
    let Some(harness) = harnesses.iter().find(|harness| harness.name() == name) else {
        return connection.send(&Reply::Refused(format!("there is no harness `{name}`")));
    };
    match &request {
        Request::Check(request) => search::serve(connection, *harness, request),
        Request::Decode(request) => fuzzing::decode(connection, *harness, request),
        Request::Seeds(request) => fuzzing::seeds(connection, *harness, request),
        Request::Simplify(request) => simplify::serve(connection, *harness, request),
        #[cfg(feature = "scheduler")]
        Request::Explore(request) => explore::explore(&mut connection, *harness, request),
        #[cfg(feature = "scheduler")]
        Request::Replay(request) => explore::replay(&mut connection, *harness, request),
        _ => connection.send(&Reply::Refused(
            "this worker was built without the scheduler".to_owned(),
        )),
    }
}

/// The worker's end of the connection.
pub(crate) struct Connection {
    stream: UnixStream,
    /// Held while a frame is written.
    writing: Arc<Mutex<()>>,
    /// Whether the driver is told what the program asks of the system: where more than one answer is expected.
    #[cfg(feature = "scheduler")]
    tells_asked: bool,
}

impl Connection {
    fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            writing: Arc::default(),
            #[cfg(feature = "scheduler")]
            tells_asked: false,
        }
    }

    /// Another handle of the same connection.
    #[cfg(feature = "scheduler")]
    fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            stream: self.stream.try_clone()?,
            writing: Arc::clone(&self.writing),
            tells_asked: self.tells_asked,
        })
    }

    /// Sends a reply, and before it what the program has asked of the system since the last one.
    fn send(&mut self, reply: &Reply) -> io::Result<()> {
        #[cfg(feature = "scheduler")]
        if self.tells_asked {
            let asked = crate::process::asked::take();
            if !asked.is_empty() {
                self.write(&Reply::Asked(asked))?;
            }
        }
        self.write(reply)
    }

    fn write(&mut self, reply: &Reply) -> io::Result<()> {
        let body = reply.encode();
        let length = u32::try_from(body.len()).map_err(io::Error::other)?;
        let mut frame = length.to_le_bytes().to_vec();
        frame.extend_from_slice(&body);
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        self.stream.write_all(&frame)
    }

    /// Tells what an execution may leave behind, and from here on what the program asks of the system.
    fn tell_left_behind(&mut self) -> io::Result<()> {
        #[cfg(feature = "scheduler")]
        {
            self.tells_asked = true;
            let left = crate::process::left_behind(&mut crate::alone::alone());
            if !left.is_empty() {
                return self.send(&Reply::LeftBehind(left));
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Request> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut body = vec![0; u32::from_le_bytes(length) as usize];
        self.stream.read_exact(&mut body)?;
        Request::decode(&body).map_err(io::Error::other)
    }
}
