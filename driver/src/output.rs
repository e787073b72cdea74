//! Standard output that a reader may leave at any time.

use std::io::{self, Write};
use std::path::PathBuf;

use crate::error::Error;

/// Where answers go.
pub struct Output {
    stream: Box<dyn Write>,
    /// The reader is gone (`seqz check | head`): there is nobody left to write for, which is no error.
    abandoned: bool,
}

impl Output {
    /// Standard output, in colour where that is a terminal.
    #[must_use]
    pub fn stdout() -> Self {
        Self {
            stream: Box::new(anstream::stdout()),
            abandoned: false,
        }
    }

    /// Writes with `write`, and sends it off at once.
    ///
    /// # Errors
    /// When the output can't be written, unless that is because nobody reads it.
    pub fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        if self.abandoned {
            return Ok(());
        }
        let mut text = Vec::new();
        let result = write(&mut text)
            .and_then(|()| self.stream.write_all(&text))
            .and_then(|()| self.stream.flush());
        match result {
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => {
                self.abandoned = true;
                Ok(())
            }
            Err(source) => Err(Error::Output(source)),
            Ok(()) => Ok(()),
        }
    }
}

/// A path to write to, for error messages.
pub(crate) fn writing(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
    let path = path.into();
    move |source| Error::File {
        what: "write",
        path,
        source,
    }
}
