//! Stacks that overflow under a fuzzer: its handler of the signal needs a stack of its own, which libFuzzer does not give it.
//! Without, the process is gone before it is said on which bytes.

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod gnu {
    use std::ffi::{c_int, c_void};
    use std::mem::MaybeUninit;
    use std::ptr;

    const SIGSEGV: c_int = 11;
    const SA_ONSTACK: c_int = 0x0800_0000;
    const SS_DISABLE: c_int = 2;
    /// What a handler needs that prints a stack and writes a file.
    const SIZE: usize = 256 << 10;

    /// `stack_t`.
    #[repr(C)]
    struct Stack {
        base: *mut c_void,
        flags: c_int,
        size: usize,
    }

    /// `struct sigaction`.
    #[repr(C)]
    struct Action {
        handler: usize,
        mask: [u64; 16],
        flags: c_int,
        restorer: usize,
    }

    unsafe extern "C" {
        fn sigaltstack(new: *const Stack, old: *mut Stack) -> c_int;
        fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
    }

    pub(super) fn prepare() {
        let mut stack = MaybeUninit::<Stack>::uninit();
        let mut action = MaybeUninit::<Action>::uninit();
        // SAFETY: the types have the layout of the C library's on these platforms; both calls fill in what they are given
        // when they succeed, and change nothing.
        let (mut stack, mut action) = unsafe {
            if sigaltstack(ptr::null(), stack.as_mut_ptr()) != 0
                || sigaction(SIGSEGV, ptr::null(), action.as_mut_ptr()) != 0
            {
                return;
            }
            (stack.assume_init(), action.assume_init())
        };
        // Sanitizers have one already.
        if stack.flags & SS_DISABLE == 0 {
            return;
        }
        let space: &'static mut [u8] = Box::leak(vec![0; SIZE].into_boxed_slice());
        stack = Stack {
            base: space.as_mut_ptr().cast(),
            flags: 0,
            size: space.len(),
        };
        action.flags |= SA_ONSTACK;
        // SAFETY: the memory is the signal stack's for ever, and of the action that is in place only a flag is changed.
        unsafe {
            if sigaltstack(&raw const stack, ptr::null_mut()) == 0 {
                sigaction(SIGSEGV, &raw const action, ptr::null_mut());
            }
        }
    }
}

/// Gives the handler of this thread's segmentation faults a stack of its own, if there is none; where it is known how.
pub(crate) fn prepare() {
    #[cfg(all(
        target_os = "linux",
        target_env = "gnu",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    gnu::prepare();
}
