//! Children that end when seqz ends, in whatever way, and what is left of them.

use std::process::Command;

/// Has the system kill the child when the thread that starts it ends: a worker that waits, or loops, for ever would
/// outlive a seqz that was killed. So the thread that has started a child has to wait for it. Where the system can't
/// kill the child, the child notices the closed connection when it next has something to send.
pub fn ends_with_us(command: &mut Command) -> &mut Command {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::process::CommandExt as _;

        let kill = || {
            // SAFETY: this system call only sets a property of the calling process; it allocates nothing and takes no
            // lock.
            let done = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
            if done == 0 {
                Ok(())
            } else {
                Err(std::io::Error::last_os_error())
            }
        };
        // SAFETY: between fork and exec, only that one call and the reading of `errno` run.
        unsafe { command.pre_exec(kill) };
    }
    command
}

/// Ends what is left of the process group that a child leads, which has ended: what the program has started and not waited for.
/// The child must not have been waited for yet, so that the group's number is still the group's. Where the system doesn't tell of
/// an end before the wait, nothing is done.
pub(super) fn end_group(child: u32) {
    #[cfg(target_os = "linux")]
    if let Ok(child) = i32::try_from(child) {
        // SAFETY: `killpg` has no preconditions. It fails only where nothing is left of the group.
        unsafe {
            libc::killpg(child, libc::SIGKILL);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = child;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Stdio};
    use std::thread;

    use super::*;

    #[test]
    fn a_child_ends_with_the_thread_that_has_started_it() {
        let start = || -> Child {
            let mut command = Command::new("sh");
            command.args(["-c", "echo here; exec sleep 1000"]);
            let mut child = ends_with_us(command.stdout(Stdio::piped()))
                .spawn()
                .unwrap();
            let mut line = String::new();
            let said = child.stdout.as_mut().unwrap();
            BufReader::new(said).read_line(&mut line).unwrap();
            child
        };
        let mut child = thread::spawn(start).join().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGKILL));
        let mut child = start();
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
