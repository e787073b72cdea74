//! A few published crates, as they are: each of their tests is run, and none fails that `cargo test` passes.

use std::path::Path;
use std::process::Command;

/// How `seqz-bench crates` ends where the registry can't be reached.
const OFFLINE: i32 = 4;

#[test]
fn published_crates_run() {
    let bench = env!("CARGO_BIN_EXE_seqz-bench");
    let seqz = Path::new(bench).with_file_name("seqz");
    if !seqz.is_file() {
        eprintln!(
            "skipped: there is no {}, which `cargo build` makes",
            seqz.display()
        );
        return;
    }
    let run = Command::new(bench)
        .args(["crates", "--quick", "--time", "3"])
        // What is searched here is small: building it well costs more than running it badly.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0")
        .output()
        .expect("the command runs");
    let said = String::from_utf8_lossy(&run.stdout);
    let errors = String::from_utf8_lossy(&run.stderr);
    if run.status.code() == Some(OFFLINE) {
        eprintln!("skipped: the registry can't be reached: {errors}");
        return;
    }
    assert!(run.status.success(), "{said}{errors}");
}
