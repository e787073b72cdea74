//! Commands that get so much time and no more.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// What a command has said.
pub(super) struct Said {
    pub(super) out: String,
    pub(super) errors: String,
    /// `None` where its time was over.
    pub(super) status: Option<ExitStatus>,
}

/// Runs a command, all whose processes are ended after `limit`. What it says goes through files below `folder`.
pub(super) fn run(mut command: Command, folder: &Path, limit: Duration) -> io::Result<Said> {
    fs::create_dir_all(folder)?;
    let (out, errors) = (folder.join("stdout"), folder.join("stderr"));
    let mut child = command
        .stdout(File::create(&out)?)
        .stderr(File::create(&errors)?)
        .process_group(0)
        .spawn()?;
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if begun.elapsed() > limit {
            if let Ok(group) = libc::pid_t::try_from(child.id()) {
                // SAFETY: it sends a signal to the group of a child that has not been waited for, and touches no memory.
                unsafe { libc::kill(-group, libc::SIGKILL) };
            }
            child.wait()?;
            break None;
        }
        thread::sleep(Duration::from_millis(20));
    };
    let text = |path: &Path| fs::read(path).map(|it| String::from_utf8_lossy(&it).into_owned());
    Ok(Said {
        out: text(&out)?,
        errors: text(&errors)?,
        status,
    })
}
