//! What children say on a pipe, until they end. The processes that a child starts have the pipe, too, and may live on and keep it
//! open: its end may never come.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, Command, Output};
use std::thread;

/// The reading end of a child's pipe: ends with the pipe, or with the last byte that is there when the child has ended.
#[derive(Debug)]
pub(crate) struct Said<P> {
    pipe: P,
    /// Ends when the child's [`Lives`] does.
    lives: PipeReader,
    /// The number of bytes that the child may have left behind, once it has ended.
    left: Option<usize>,
}

/// A child that has not been waited for. Whoever has waited for it drops this value.
#[derive(Debug)]
pub(crate) struct Lives(#[expect(dead_code, reason = "dropping it tells the readers")] PipeWriter);

/// What the child says on the pipe, to be read in a thread of its own.
///
/// # Errors
/// When the process can open no more files.
pub(crate) fn said<P: Read + AsFd>(pipe: P) -> io::Result<(Said<P>, Lives)> {
    let (lives, writer) = io::pipe()?;
    let left = None;
    Ok((Said { pipe, lives, left }, Lives(writer)))
}

impl<P: Read + AsFd> Read for Said<P> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let ready = |fd: &dyn AsRawFd| libc::pollfd {
            fd: fd.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        while self.left.is_none() {
            let mut both = [ready(&self.pipe.as_fd()), ready(&self.lives)];
            // SAFETY: the array has two entries, and both files stay open while `self` is borrowed.
            let answer = unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
            match answer {
                0 => {}
                1.. if both[1].revents != 0 => self.left = Some(self.there()),
                1.. => return self.pipe.read(into),
                _ => match io::Error::last_os_error() {
                    error if error.kind() == io::ErrorKind::Interrupted => {}
                    error => return Err(error),
                },
            }
        }
        // All of these bytes are there, so that this never waits; and what others write later does not count.
        let left = self.left.unwrap_or(0).min(into.len());
        if left == 0 {
            return Ok(0);
        }
        let read = self.pipe.read(&mut into[..left])?;
        self.left = self.left.map(|all| all - read);
        Ok(read)
    }
}

impl<P: AsFd> Said<P> {
    /// The number of bytes in the pipe.
    fn there(&self) -> usize {
        let mut bytes: libc::c_int = 0;
        // SAFETY: this request writes one `int`, and the file is open.
        let answer =
            unsafe { libc::ioctl(self.pipe.as_fd().as_raw_fd(), libc::FIONREAD, &mut bytes) };
        match answer {
            0 => usize::try_from(bytes).unwrap_or(0),
            _ => 0,
        }
    }
}

/// Runs a command to its end, and returns all that it has said on its standard output and error, where these are pipes.
///
/// # Errors
/// When it can't be started, or its end can't be told.
pub(crate) fn output(command: &mut Command) -> io::Result<Output> {
    let mut child = command.spawn()?;
    match read(&mut child) {
        Ok(output) => Ok(output),
        Err(error) => {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

fn read(child: &mut Child) -> io::Result<Output> {
    let stdout = child.stdout.take().map(said).transpose()?;
    let stderr = child.stderr.take().map(said).transpose()?;
    let (stdout, first) = stdout.unzip();
    let (stderr, second) = stderr.unzip();
    thread::scope(|scope| {
        let stdout = stdout.map(|from| scope.spawn(|| all(from)));
        let stderr = stderr.map(|from| scope.spawn(|| all(from)));
        let status = child.wait();
        drop((first, second));
        let text = |reader: Option<thread::ScopedJoinHandle<'_, Vec<u8>>>| {
            reader
                .and_then(|reader| reader.join().ok())
                .unwrap_or_default()
        };
        Ok(Output {
            stdout: text(stdout),
            stderr: text(stderr),
            status: status?,
        })
    })
}

/// Reads to the end. What was read before an error is all that there is to read.
pub(crate) fn all(mut from: impl Read) -> Vec<u8> {
    let mut all = Vec::new();
    let _ = from.read_to_end(&mut all);
    all
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    /// The shell's command, with both its outputs in pipes.
    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    #[test]
    fn all_that_a_child_says_is_read() {
        let output = output(&mut shell("echo here; echo there >&2; exit 3")).unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(
            (&output.stdout[..], &output.stderr[..]),
            (&b"here\n"[..], &b"there\n"[..])
        );
    }

    #[test]
    fn more_than_a_pipe_holds_is_read() {
        let output = output(&mut shell("head -c 300000 /dev/zero; echo end")).unwrap();
        assert_eq!(output.stdout.len(), 300_004);
        assert!(output.stdout.ends_with(b"end\n"));
    }

    #[test]
    fn nothing_waits_for_processes_that_a_child_leaves_behind() {
        // Only the reader of the pipe keeps this process from waiting as long as the child's child does.
        let script = "echo here; echo there >&2; sleep 1000 & echo $! >&2";
        let output = output(&mut shell(script)).unwrap();
        assert_eq!(output.stdout, b"here\n");
        let said = String::from_utf8(output.stderr).unwrap();
        let (there, sleeps) = said.trim().split_once('\n').unwrap();
        assert_eq!(there, "there");
        let ended = Command::new("kill").arg(sleeps).status().unwrap();
        assert!(ended.success(), "the child's child has ended by itself");
    }

    #[test]
    fn nothing_waits_for_processes_that_go_on_to_write() {
        let script = "echo here; (while echo again 2>&1; do :; done) & echo $! >&2";
        let output = output(&mut shell(script)).unwrap();
        assert!(output.stdout.starts_with(b"here\n") || output.stdout.starts_with(b"again\n"));
        let writes = String::from_utf8(output.stderr).unwrap();
        // It ends by itself as well, since nobody reads any more.
        let _ = Command::new("kill").arg(writes.trim()).status();
    }
}
