//! The functions of shared libraries that an executable imports, and what is known of them.
//!
//! The list has those that leave nothing behind, or only what is looked after elsewhere: any other function may have
//! state that outlives an execution.

use super::environment::is_set_back;
use crate::vocabulary::state_of;

/// The functions that [`stand_before_the_system`](crate::stand_before_the_system) defines.
const IS_REPLACED: [&str; 12] = [
    "clock_gettime",
    "clock_nanosleep",
    "gettimeofday",
    "getentropy",
    "getrandom",
    "nanosleep",
    "sched_yield",
    "sleep",
    "syscall",
    "time",
    "usleep",
    "__cxa_thread_atexit_impl",
];

/// Beginnings of names that are all known.
const FAMILIES: [&str; 16] = [
    "_Unwind_",
    "__cxa_",
    "_ITM_",
    "__gmon",
    "__libc_start",
    "__stack_chk",
    "mem",
    "pthread_",
    "__asan",
    "__ubsan",
    "__sanitizer",
    "__tls",
    "__errno",
    "sched_",
    "epoll_",
    "inotify_",
];

/// Other known names. Files, sockets and processes are found in the source, and [when they are asked
/// for](super::asked): what is to be done at a fork matters to those who fork alone.
const KNOWN: &str = "
    __environ environ abort chroot pidfd_getpid posix_spawn_file_actions_addchdir posix_spawn_file_actions_addchdir_np
    accept accept4 access aligned_alloc atof atoi atol atoll bcmp bind bsearch calloc ceil ceilf chmod chown clock_getres
    clock_settime close closedir confstr connect copy_file_range copysign cos cosf cosh dirfd dl_iterate_phdr dladdr
    dlclose dlerror dlopen dlsym dup dup2 dup3 eventfd execv execve execvp exit _exit exp exp2 exp2f expf expm1 expm1f
    faccessat fchmod fchmodat fchown fchownat fcntl fcntl64 fdatasync fdopendir ffs floor floorf flock fma fmaf fmod
    fmodf fork fpathconf free freeaddrinfo fstat fstat64 fstatat fstatat64 fstatfs64 fstatvfs64 fsync ftruncate
    ftruncate64 futimens gai_strerror getaddrinfo getauxval getcwd getdents64 getegid getenv geteuid getgid getgroups
    gethostname getloadavg getpagesize getpeername getpgid getpid getppid getpriority getpwuid_r getrlimit getrlimit64
    getrusage getsid getsockname getsockopt gettid getuid getxattr gnu_get_libc_version hypot hypotf if_indextoname
    if_nametoindex index ioctl isatty isalnum isalpha isdigit isspace kill lchown ldexp lgamma_r link linkat listen
    llrint llround log log10 log10f log1p log1pf log2 log2f logf lrint lround lseek lseek64 lstat lstat64 madvise malloc
    malloc_usable_size mincore mkdir mkdirat mkfifo mknod mlock mmap mmap64 mprotect mremap msync munlock munmap
    newfstatat nl_langinfo open open64 openat openat64 opendir pathconf pause pidfd_open pipe pipe2 poll posix_fadvise
    posix_fallocate posix_memalign posix_spawn posix_spawn_file_actions_adddup2 posix_spawn_file_actions_destroy
    posix_spawn_file_actions_init posix_spawnattr_destroy posix_spawnattr_init posix_spawnattr_setflags
    posix_spawnattr_setpgroup posix_spawnattr_setsigdefault posix_spawnattr_setsigmask posix_spawnp pow powf ppoll prctl
    pread pread64 preadv preadv2 process_vm_readv pwrite pwrite64 pwritev qsort read readdir64 readdir64_r readlink
    readlinkat readv realloc reallocarray realpath recv recvfrom recvmmsg recvmsg remove rename renameat renameat2
    res_init __res_init rewinddir rint rintf rmdir round roundf secure_getenv select sem_destroy sem_init sem_post
    sem_trywait sem_wait send sendfile sendfile64 sendmmsg sendmsg sendto setgid setgroups setpgid setsid setsockopt
    setuid shutdown sigaction sigaddset sigaltstack sigdelset sigemptyset sigfillset signal sigismember sin sinf sinh
    snprintf socket socketpair splice sqrt sqrtf stat stat64 statfs64 statvfs64 statx stpcpy strcasecmp strcat strchr
    strcmp strcpy strcspn strdup strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strrchr strspn strstr
    strtod strtof strtok_r strtol strtoll strtoul strtoull strxfrm symlink symlinkat sync sysconf sysinfo tan tanf tanh
    tgamma trunc truncate64 truncf uname unlink unlinkat utimensat vfork wait4 waitid waitpid wcslen write writev
    __xpg_strerror_r __fxstat64 __xstat64 __lxstat64 __rust_probestack __cmsg_nxthdr __sigsetjmp abs acos acosf asin
    asinf atan atan2 atan2f atanf cbrt cbrtf div fabs fmax fmin frexp labs modf nextafter remainder sincos sincosf
    toupper tolower isupper islower gmtime_r timegm difftime rand_r explicit_bzero __explicit_bzero_chk __memcpy_chk
    __memmove_chk __memset_chk __strcpy_chk __strcat_chk __strncpy_chk __snprintf_chk __vsnprintf_chk vsnprintf sscanf
    __isoc99_sscanf __isoc23_sscanf __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull __ctype_b_loc
    __ctype_tolower_loc __ctype_toupper_loc __register_atfork
";

/// The imports whose state outlives an execution, or is not known not to, in words.
pub(super) fn without_remedy(imports: &[String]) -> Vec<String> {
    let known = |name: &str| {
        FAMILIES.iter().any(|family| name.starts_with(family))
            || KNOWN.split_ascii_whitespace().any(|known| known == name)
            || is_set_back(name)
            || IS_REPLACED.contains(&name)
    };
    let mut left: Vec<_> = imports
        .iter()
        .filter(|name| !known(name))
        .map(|name| state_of(name))
        .collect();
    left.sort();
    left.dedup();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_named() {
        let known = [
            "malloc",
            "chdir",
            "rand",
            "clock_gettime",
            "__register_atfork",
        ];
        let imports = known.into_iter().chain(["setitimer"]);
        let imports: Vec<_> = imports.map(str::to_owned).collect();
        assert_eq!(
            without_remedy(&imports),
            ["state of the C function `setitimer`"]
        );
    }
}
