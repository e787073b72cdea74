//! The peak memory of workers. The system tells it of a process that has ended and that has not been waited for yet.

use std::sync::atomic::{AtomicU64, Ordering};

/// The largest resident memory of any worker of this process, in bytes; 0: not known.
static PEAK: AtomicU64 = AtomicU64::new(0);

/// Returns the largest resident memory of a worker, in bytes, where the system tells it.
#[must_use]
pub fn peak() -> Option<u64> {
    Some(PEAK.load(Ordering::Relaxed)).filter(|&peak| peak > 0)
}

/// Whether a child has ended; if so, its peak is recorded. The child has still to be waited for.
pub(super) fn has_ended(child: u32) -> bool {
    ended(child, Wait::No).is_none_or(|peak| {
        if let Some(peak) = peak {
            PEAK.fetch_max(peak, Ordering::Relaxed);
        }
        peak.is_some()
    })
}

/// Waits for a child's end and records the child's peak. The child has still to be waited for.
pub(super) fn at_the_end(child: u32) {
    if let Some(Some(peak)) = ended(child, Wait::Yes) {
        PEAK.fetch_max(peak, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    Yes,
    No,
}

/// Returns the peak of a child that has ended, in bytes; `Some(None)` if the child has not ended. `None`: the system
/// doesn't tell it.
#[cfg(target_os = "linux")]
fn ended(child: u32, wait: Wait) -> Option<Option<u64>> {
    use std::mem::MaybeUninit;

    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let how = libc::WEXITED | libc::WNOWAIT | if wait == Wait::No { libc::WNOHANG } else { 0 };
    // libc's own waitid has no parameter for the usage.
    // SAFETY: both pointers are valid for writes of their types, and the system writes nothing else.
    let result = unsafe {
        libc::syscall(
            libc::SYS_waitid,
            libc::P_PID,
            child,
            info.as_mut_ptr(),
            how,
            usage.as_mut_ptr(),
        )
    };
    if result != 0 {
        return None;
    }
    // SAFETY: all zeros are a valid value of either type, whether or not the system has written over them.
    let (info, usage) = unsafe { (info.assume_init(), usage.assume_init()) };
    // SAFETY: waitid fills in a variant that has this field, and all zeros are valid for it, too.
    let who = unsafe { info.si_pid() };
    let peak = u64::try_from(usage.ru_maxrss).unwrap_or_default() * 1024;
    Some((who != 0).then_some(peak))
}

#[cfg(not(target_os = "linux"))]
fn ended(_child: u32, _wait: Wait) -> Option<Option<u64>> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_child_s_peak_is_there_at_its_end_and_the_child_too() {
        let mut child = Command::new("sleep").arg("0.2").spawn().unwrap();
        assert_eq!(ended(child.id(), Wait::No), Some(None));
        let peak = ended(child.id(), Wait::Yes).unwrap().unwrap();
        assert!(peak > 100 << 10, "{peak}");
        assert!(has_ended(child.id()));
        assert!(child.wait().unwrap().success());
        assert_eq!(ended(child.id(), Wait::No), None);
    }

    #[test]
    fn what_a_child_has_given_back_counts() {
        // The shell holds 32 MB in a variable.
        let script = "x=$(head -c 33554432 /dev/zero | tr '\\0' x); x=; exit 0";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let peak = ended(child.id(), Wait::Yes).unwrap().unwrap();
        child.wait().unwrap();
        assert!(peak > 32 << 20, "{peak}");
    }
}
