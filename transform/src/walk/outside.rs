//! What of std leads out of the program: files, sockets, other processes, the environment. Two threads, or two executions, can
//! learn from each other there without an event.

use std::ops::Range;

use super::{Unfollowed, Walker};

/// Returns what a path inside std leads to outside of the program, and whether the path only reads there.
fn meaning(path: &[&str], has_unsafe: bool) -> Option<(String, bool)> {
    let named = |what: &str| format!("{what}: `{}`", path.join("::"));
    Some(match path {
        ["fs", name, rest @ ..] | ["os", "unix" | "linux", "fs", name, rest @ ..] => {
            (named("a file"), only_looks(name, rest))
        }
        // Items that a glob imports are called by their names alone.
        ["fs"] | ["os", "unix", "fs"] => (named("files"), true),
        [
            "net",
            "TcpListener" | "TcpStream" | "UdpSocket" | "ToSocketAddrs" | "Incoming",
            ..,
        ]
        | ["os", "unix", "net", _, ..] => (named("a socket"), false),
        [
            "process",
            "Command" | "Child" | "ChildStdin" | "ChildStdout" | "ChildStderr",
            ..,
        ] => (named("another process"), false),
        ["io", "pipe" | "PipeReader" | "PipeWriter", ..] => (named("a pipe"), false),
        ["io", "stdin" | "Stdin" | "read_to_string", ..] => (named("standard input"), false),
        ["io", "StdoutLock" | "StderrLock", ..] => (named("a lock of std's own"), false),
        ["panic", "set_hook" | "take_hook" | "update_hook", ..] => (named("the panic hook"), false),
        ["env", "set_var" | "remove_var", ..] => (named("the environment"), false),
        ["env", "set_current_dir", ..] => (named("the current directory"), false),
        // The keys of a map decide the order of its elements, and no program draws numbers from them.
        [
            "hash" | "collections",
            "RandomState" | "hash_map",
            ..,
            "new" | "default",
        ] if path.contains(&"RandomState") => {
            (named("random numbers, the same in each execution"), false)
        }
        ["cell", "UnsafeCell", ..] => ("an `UnsafeCell`".into(), false),
        ["sync", "atomic", "AtomicPtr", ..] if has_unsafe => {
            ("an `AtomicPtr` beside `unsafe` code".into(), false)
        }
        _ => return None,
    })
}

/// Whether the item of `std::fs` with this name changes no file.
fn only_looks(name: &str, rest: &[&str]) -> bool {
    let writes = |name: &str| {
        let first = name.split('_').next().unwrap_or(name);
        matches!(
            first,
            "copy"
                | "create"
                | "hard"
                | "options"
                | "remove"
                | "rename"
                | "set"
                | "soft"
                | "symlink"
                | "write"
        )
    };
    match name {
        "OpenOptions" | "DirBuilder" | "OpenOptionsExt" | "DirBuilderExt" | "FileExt" => false,
        // An import names the type alone.
        name if name.starts_with(char::is_uppercase) => !rest.iter().any(|it| writes(it)),
        name => !writes(name),
    }
}

/// Whether the runtime sees it when an execution asks the system for this, by whatever path: what it reads is what others
/// changed, which is seen.
fn is_seen(path: &[&str]) -> bool {
    match path {
        ["fs" | "net" | "process", ..] | ["os", "unix" | "linux", ..] => true,
        ["io", name, ..] => !matches!(*name, "StdoutLock" | "StderrLock"),
        ["panic", ..] => true,
        _ => false,
    }
}

impl Walker<'_> {
    /// Notes a path that leads out of the program.
    pub(super) fn outside(&mut self, path: &[String], bytes: Range<usize>) {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        if let Some((what, reads)) = meaning(&path, self.has_unsafe) {
            let file = self.file;
            self.unfollowed.push(Unfollowed {
                file,
                bytes,
                what,
                reads,
                import: self.importing,
                synchronizes: !matches!(path[..], ["cell", ..] | ["sync", ..]) && !is_seen(&path),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_at_files_is_not_changing_them() {
        let reads = |path: &str| {
            let path: Vec<&str> = path.split("::").collect();
            meaning(&path, false).unwrap().1
        };
        for path in [
            "fs::read_to_string",
            "fs::File",
            "fs::File::open",
            "fs::metadata",
        ] {
            assert!(reads(path), "{path}");
        }
        for path in [
            "fs::write",
            "fs::File::create_new",
            "fs::OpenOptions",
            "fs::remove_dir_all",
            "os::unix::fs::symlink",
            "net::TcpStream::connect",
            "process::Command",
        ] {
            assert!(!reads(path), "{path}");
        }
        assert_eq!(meaning(&["net", "Ipv4Addr"], true), None);
        assert_eq!(meaning(&["env", "var"], true), None);
        let drawn = ["collections", "hash_map", "RandomState", "new"];
        assert!(meaning(&drawn, false).is_some());
        assert!(meaning(&["hash", "RandomState", "default"], false).is_some());
        assert_eq!(meaning(&["hash", "RandomState"], false), None);
        assert_eq!(meaning(&["collections", "HashMap", "new"], false), None);
    }
}
