//! Finds out that a worker waits for ever, and where: a lock of a dependency blocks the one thread of the system on
//! which all threads of the program run.

use std::fs;
use std::path::PathBuf;

use seqz_runtime::worker::stuck::{FRAME, SIGNAL};

/// Whether no thread of the process can go on by itself: all threads wait, without a limit of time, to be woken by
/// another thread.
pub(super) fn waits(process: u32) -> bool {
    let tasks = tasks(process);
    !tasks.is_empty()
        && tasks
            .iter()
            .all(|task| waits_for_ever(&task.join("syscall")))
}

fn tasks(process: u32) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{process}/task"));
    let entries = entries.into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Whether the system call that a thread is in is a wait for a futex without a limit.
fn waits_for_ever(syscall: &std::path::Path) -> bool {
    let text = fs::read_to_string(syscall).unwrap_or_default();
    let mut words = text.split_whitespace();
    let number = words.next().and_then(|word| word.parse::<i64>().ok());
    let argument = |word: Option<&str>| {
        let digits = word?.strip_prefix("0x")?;
        u64::from_str_radix(digits, 16).ok()
    };
    let (_address, operation) = (words.next(), argument(words.next()));
    let (_value, limit) = (words.next(), argument(words.next()));
    // FUTEX_WAIT and FUTEX_WAIT_BITSET, private or not, with any clock.
    let is_wait = operation.is_some_and(|operation| matches!(operation & 0x7f, 0 | 9));
    number == Some(libc::SYS_futex) && is_wait && limit == Some(0)
}

/// Asks the process where it is; the process ends then.
pub(super) fn ask(process: u32) {
    // SAFETY: `kill` has no preconditions. The child has not been waited for, so the number is still the child's.
    unsafe {
        libc::kill(process as i32, SIGNAL);
    }
}

/// Returns the functions that the process was in, the innermost first, read from its standard error.
pub(crate) fn frames(stderr: &str) -> impl Iterator<Item = &str> {
    stderr.lines().filter_map(|line| line.strip_prefix(FRAME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_found_in_what_is_said() {
        let said = format!("x\n{FRAME}std::a::b\n{FRAME}hidden::c\n");
        assert_eq!(
            frames(&said).collect::<Vec<_>>(),
            ["std::a::b", "hidden::c"]
        );
    }

    #[test]
    fn a_process_that_sleeps_can_go_on() {
        let mut child = std::process::Command::new("sleep")
            .arg("5")
            .spawn()
            .unwrap();
        assert!(!waits(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
