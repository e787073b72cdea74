//! What is compiled for a program: what was compiled before, for whatever program and in whatever target directory, is not.

mod support;

use std::fs;
use std::path::Path;

use support::programs::{HEAD, sees_seven};
use support::{Package, command, package, run};

/// Notes the crates that rustc is run for, and runs it.
const NOTES: &str = "#!/bin/sh\n\
    previous=\n\
    for argument in \"$@\"; do\n\
    \x20   [ \"$previous\" = --crate-name ] && echo \"$argument\" >> \"$NOTES\"\n\
    \x20   previous=$argument\n\
    done\n\
    exec \"$@\"\n";

/// A directory with the script that notes, and with room for what is compiled.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("rustc.sh"), NOTES).unwrap();
        let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(dir.path().join("rustc.sh"), runnable).unwrap();
        Self(dir)
    }

    /// Checks a program, and says which crates rustc was run for.
    fn check(&self, program: &Package, target: &str, flags: &str) -> Vec<String> {
        let notes = self.0.path().join("notes");
        fs::write(&notes, "").unwrap();
        let checked = run(command(program.path())
            .arg("check")
            .env("SEQZ_TARGET_DIR", self.0.path().join(target))
            .env("XDG_CACHE_HOME", self.0.path().join("cache"))
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("RUSTFLAGS", flags)
            // The user's own wrapper goes on to be used for what is compiled.
            .env("RUSTC_WRAPPER", self.0.path().join("rustc.sh"))
            .env("NOTES", &notes));
        assert_eq!(checked.code, Some(1), "{}", checked.shown());
        let notes = fs::read_to_string(notes).unwrap();
        // cargo asks rustc what it is, by this name.
        let crates = notes.lines().filter(|name| *name != "___");
        crates.map(str::to_owned).collect()
    }

    fn libraries(&self) -> Vec<std::path::PathBuf> {
        let entries = fs::read_dir(self.0.path().join("cache/seqz/compiled")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

fn of_runtime(crates: &[String]) -> Vec<&str> {
    let all = [
        "seqz_vocabulary",
        "seqz_feasibility",
        "seqz_runtime",
        "seqz_explore",
        "corosensei",
    ];
    let crates = crates.iter().map(String::as_str);
    let mut found: Vec<_> = crates.filter(|name| all.contains(name)).collect();
    found.sort_unstable();
    found
}

/// Cuts a file short.
fn damage(file: &Path) {
    let bytes = fs::read(file).unwrap();
    fs::write(file, &bytes[..bytes.len() / 2]).unwrap();
}

#[test]
fn the_runtime_is_compiled_once() {
    let program = |message: &str| {
        let panics = format!("panic!({message:?});");
        package(&format!("{HEAD}{}", sees_seven("sees", &panics)))
    };
    let (first, second, third) = (program("first"), program("second"), program("third"));
    let place = Place::new();

    let all = [
        "corosensei",
        "seqz_explore",
        "seqz_feasibility",
        "seqz_runtime",
        "seqz_vocabulary",
    ];
    assert_eq!(of_runtime(&place.check(&first, "a", "")), all);
    // In the same place, a program is its library and its binary.
    assert_eq!(place.check(&second, "a", "").len(), 2);
    // In another one, the runtime is taken from where it is kept.
    let elsewhere = place.check(&third, "b", "");
    assert_eq!(of_runtime(&elsewhere), [""; 0], "{elsewhere:?}");
    assert_eq!(place.check(&first, "b", "").len(), 2);

    // Compiled in another way, it is another one.
    let otherwise = place.check(&first, "b", "-Cdebuginfo=1");
    assert_eq!(of_runtime(&otherwise), all);
    let kept = place.libraries();
    assert_eq!(kept.len(), 14, "{kept:?}");

    // What is not whole is compiled again, and is whole then.
    for library in kept {
        if library.to_string_lossy().contains("seqz_runtime") {
            damage(&library.join("rlib"));
        }
    }
    let again = place.check(&second, "c", "");
    assert_eq!(of_runtime(&again), ["seqz_runtime"]);
    assert_eq!(of_runtime(&place.check(&third, "d", "")), [""; 0]);
}
