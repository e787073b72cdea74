//! The `main` of a generated crate: a worker of the driver, or a small command line of its own.

pub mod checkpoint;
mod command_line;
mod connection;
#[cfg(feature = "scheduler")]
mod explore;
#[cfg(not(feature = "scheduler"))]
#[path = "explore/absent.rs"]
mod explore;
mod fuzzing;
pub mod message;
mod search;
mod simplify;
pub mod stuck;

use std::env;
use std::io;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use connection::Connection;
use message::{Conversation, Request};

use crate::fuzz::Generated;
use crate::harness::AnyHarness;

/// The environment variable that names the driver's socket.
pub const SOCKET: &str = "SEQZ_SOCKET";

/// The `main` of a generated crate.
///
/// Under the driver it serves requests. Otherwise it runs P̂ₖ once, with what the command line says. `environment` are
/// the names and values of variables that cargo sets for the package's tests.
#[must_use]
pub fn main(generated: Generated, environment: &[&[(&str, &str)]]) -> ExitCode {
    for (name, value) in environment.iter().copied().flatten() {
        // SAFETY: the generated `main` does nothing but call this function, so that no other thread reads the environment.
        unsafe { env::set_var(name, value) };
    }
    crate::process::install(&mut crate::alone::alone());
    let Some(path) = env::var_os(SOCKET) else {
        return command_line::run(generated, env::args().skip(1).collect());
    };
    stuck::listen();
    let served = UnixStream::connect(path).and_then(|stream| serve(stream, generated.harnesses));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

/// Serves the one request that comes.
fn serve(mut stream: UnixStream, harnesses: &[&dyn AnyHarness]) -> io::Result<()> {
    match connection::receive(&mut stream)? {
        Request::Check(request) => serve_with(stream, harnesses, &request, search::serve),
        Request::Decode(request) => serve_with(stream, harnesses, &request, fuzzing::decode),
        Request::Seeds(request) => serve_with(stream, harnesses, &request, fuzzing::seeds),
        Request::Simplify(request) => serve_with(stream, harnesses, &request, simplify::serve),
        Request::Explore(request) => serve_with(stream, harnesses, &request, explore::explore),
        Request::Replay(request) => serve_with(stream, harnesses, &request, explore::replay),
    }
}

/// Serves a request, if there is a harness of its name.
fn serve_with<C: Conversation>(
    stream: UnixStream,
    harnesses: &[&dyn AnyHarness],
    request: &C,
    serve: fn(Connection<C>, &dyn AnyHarness, &C) -> io::Result<()>,
) -> io::Result<()> {
    let mut connection = Connection::new(stream);
    let name = request.harness();
    match harnesses.iter().find(|harness| harness.name() == name) {
        Some(harness) => serve(connection, *harness, request),
        None => connection.refuse(format!("there is no harness `{name}`")),
    }
}
