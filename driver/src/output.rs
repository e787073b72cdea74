//! Standard output, whose reader may leave at any time.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::visible::visible;

/// The stream that answers are written to.
pub struct Output {
    stream: Box<dyn Write>,
    /// Whether the reader is gone (`seqz check | head`), so that nothing more is written. That is no error.
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

    /// Writes with `write`, and flushes the output at once.
    ///
    /// # Errors
    /// When the output can't be written, unless the reader is gone.
    pub fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        if self.abandoned {
            return Ok(());
        }
        let mut text = Vec::new();
        let result = write(&mut text)
            .and_then(|()| {
                let text = String::from_utf8_lossy(&text);
                self.stream.write_all(visible(&text).as_bytes())
            })
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

/// Writes a file that appears whole or not at all, even when seqz is killed meanwhile.
///
/// # Errors
/// Errors of the file system.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let dir = match path.parent() {
        Some(dir) if dir != Path::new("") => dir,
        _ => Path::new("."),
    };
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    new.write_all(content)?;
    // A temporary file is private; the file that it replaces is the user's to share.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(path).map_or(0o644, |old| old.permissions().mode());
        new.as_file()
            .set_permissions(std::fs::Permissions::from_mode(mode))?;
    }
    new.persist(path)?;
    Ok(())
}

/// Returns the conversion of an error in writing to this path.
pub(crate) fn writing(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
    let path = path.into();
    move |source| Error::File {
        what: "write",
        path,
        source,
    }
}
