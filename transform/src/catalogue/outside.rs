//! The modules that lead out of the program: `panic`, `time`, `env`, `fs`, `process`, `io`, `net`.

use super::Entry;
use super::Stands::{Narrower, NotFollowed, Nothing};

const NAMED: &[&str] = &["transform/src/walk/outside.rs::looking_at_files_is_not_changing_them"];

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        module: "panic",
        items: &[
            "catch_unwind",
            "resume_unwind",
            "panic_any",
            "AssertUnwindSafe",
            "Location",
            "PanicHookInfo",
        ],
        learns: "nothing: panics are the own thread's. Others see what its destructors do, and the poison of its locks",
        scheduled: Nothing(
            "what destructors do while the thread unwinds are events like any others",
        ),
        sequential: Nothing("the panic is the thread's own"),
        tests: &[],
    },
    Entry {
        module: "panic",
        items: &["set_hook", "take_hook"],
        learns: "which hook the other thread has set, and what that does",
        scheduled: NotFollowed("the hook is the process's"),
        sequential: NotFollowed("the hook is the process's"),
        tests: NAMED,
    },
    Entry {
        module: "time",
        items: &["Instant", "SystemTime"],
        learns: "how long the other one took",
        scheduled: Narrower(
            "time is virtual: each thread's clock moves at its own sleeps and time limits, and is never behind what it has joined \
             or received, and a sleep takes a little longer than it was to. Where all threads wait, those in loops that look at \
             the clock see it move on; that time passes while others could run is not searched: where a loop waits until a time, \
             or a thread looks at the clock again while others are there, that is said (`passing_time`). The date at the beginning \
             is tried as random numbers are",
        ),
        sequential: Narrower("time is virtual, as under a scheduler"),
        tests: &[
            "tests/fresh.rs::time_and_chance_are_the_same_in_each_execution",
            "tests/polling.rs::time_passes_where_all_wait",
            "tests/polling.rs::sleeps_in_loops_take_their_time_and_others_may_be_late",
            "tests/polling.rs::the_sequential_program_waits_for_a_time_too",
            "runtime/tests/events/time.rs::who_looks_again_sees_how_long_others_have_held_it_up",
        ],
    },
    Entry {
        module: "time",
        items: &["Duration"],
        learns: "nothing: a value",
        scheduled: Nothing("a value"),
        sequential: Nothing("a value"),
        tests: &[],
    },
    Entry {
        module: "env",
        items: &["set_var", "remove_var", "set_current_dir"],
        learns: "what the other thread has set",
        scheduled: NotFollowed("the environment is the process's"),
        sequential: NotFollowed("the environment is the process's"),
        tests: NAMED,
    },
    Entry {
        module: "hash",
        items: &["RandomState"],
        learns: "nothing; but numbers drawn of it may decide what is run, and they are the same in each execution",
        scheduled: NotFollowed("one sequence of random numbers is tried"),
        sequential: NotFollowed("the same"),
        tests: NAMED,
    },
    Entry {
        module: "env",
        items: &["var", "vars", "args", "current_dir", "temp_dir"],
        learns: "nothing, unless something is set: then that is named",
        scheduled: Nothing("nobody changes it"),
        sequential: Nothing("nobody changes it"),
        tests: NAMED,
    },
    Entry {
        module: "fs",
        items: &[
            "File",
            "OpenOptions",
            "read",
            "write",
            "rename",
            "remove_file",
            "create_dir",
            "metadata",
        ],
        learns: "what the other thread, or an earlier execution, has written",
        scheduled: NotFollowed(
            "files outlive executions; only to look at them is followed as long as nobody writes",
        ),
        sequential: NotFollowed("the same"),
        tests: NAMED,
    },
    Entry {
        module: "process",
        items: &["Command", "Child"],
        learns: "whatever another process tells",
        scheduled: NotFollowed("another process"),
        sequential: NotFollowed("another process"),
        tests: NAMED,
    },
    Entry {
        module: "process",
        items: &["exit", "abort", "ExitCode", "Termination", "id"],
        learns: "nothing: the process ends",
        scheduled: Nothing("the end of the process is the end of the test"),
        sequential: Nothing("the end of the process is the end of the test"),
        tests: &[
            "tests/endings.rs::whatever_ends_the_worker_is_a_finding_that_names_the_execution",
        ],
    },
    Entry {
        module: "io",
        items: &["stdin", "pipe", "StdoutLock", "StderrLock"],
        learns: "who has the lock, and what came in",
        scheduled: NotFollowed("locks and streams of std's own"),
        sequential: NotFollowed("locks and streams of std's own"),
        tests: NAMED,
    },
    Entry {
        module: "io",
        items: &[
            "stdout",
            "stderr",
            "Cursor",
            "BufReader",
            "BufWriter",
            "Read",
            "Write",
        ],
        learns: "nothing: what is written is not read by a thread",
        scheduled: Nothing("output"),
        sequential: Nothing("output"),
        tests: &[],
    },
    Entry {
        module: "net",
        items: &["TcpListener", "TcpStream", "UdpSocket"],
        learns: "what the other end sends",
        scheduled: NotFollowed("sockets"),
        sequential: NotFollowed("sockets"),
        tests: NAMED,
    },
];
