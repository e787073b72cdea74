//! The corpus of one harness, thread under test and k: a directory of byte strings, kept from run to run.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use seqz_runtime::fuzz;
use seqz_runtime::worker::checkpoint::digest;

use super::layout::{Layout, file};
use crate::error::Error;
use crate::model::document::Role;

/// Returns the corpus's directory, and makes the directory if it isn't there.
pub(super) fn dir(layout: &Layout, harness: &str, role: Role, k: u32) -> Result<PathBuf, Error> {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
    let name: String = harness.chars().map(plain).collect();
    let dir = layout.corpus.join(format!("{name}-{}-{k}", role.name()));
    fs::create_dir_all(&dir).map_err(|e| file("create", &dir, e))?;
    Ok(dir)
}

/// Reads the byte strings of the corpus.
pub(super) fn strings(dir: &Path) -> Result<BTreeSet<Vec<u8>>, Error> {
    let read = || -> io::Result<BTreeSet<Vec<u8>>> {
        let mut all = BTreeSet::new();
        for entry in fs::read_dir(dir)? {
            all.insert(fs::read(entry?.path())?);
        }
        Ok(all)
    };
    read().map_err(|e| file("read", dir, e))
}

/// Adds byte strings that aren't in the corpus yet.
pub(super) fn add(dir: &Path, new: impl IntoIterator<Item = Vec<u8>>) -> Result<(), Error> {
    let known = strings(dir)?;
    for string in new {
        if !string.is_empty() && !known.contains(&string) {
            // The name is made of the string, so one string is stored once.
            let digits: String = string.iter().map(|byte| format!("{byte:02x}")).collect();
            let (start, _) = digits.split_at(digits.len().min(200));
            let path = dir.join(format!("seed-{start}"));
            fs::write(&path, &string).map_err(|e| file("write", &path, e))?;
        }
    }
    Ok(())
}

/// Turns a string for `k` non-local reads into one for `k + 1`, whose additional choice is that there is no further
/// read.
pub(super) fn widen(string: &[u8], k: u32) -> Vec<u8> {
    let (choices, rest) = string.split_at(string.len().min(2 * k as usize));
    let mut wider = choices.to_vec();
    // A missing choice reads as none, too; then there are no inputs either.
    wider.resize(2 * k as usize, 0);
    for (at, byte) in wider.iter_mut().enumerate().skip(choices.len()) {
        *byte = if at % 2 == 0 { 255 } else { 0 };
    }
    wider.extend_from_slice(&[255, 0]);
    wider.extend_from_slice(rest);
    wider
}

/// Keeps the smallest strings that together cover what the whole corpus covers.
pub(super) fn minimize(
    target: &Path,
    dir: &Path,
    (harness, role, k): (&str, Role, u32),
    known: &[String],
) -> Result<(), Error> {
    let new = dir.with_extension("new");
    match fs::remove_dir_all(&new) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(file("remove", &new, e)),
        _ => {}
    }
    fs::create_dir_all(&new).map_err(|e| file("create", &new, e))?;
    let merged = Command::new(target)
        .args(["-merge=1", "-detect_leaks=0", "-timeout=10"])
        .arg(&new)
        .arg(dir)
        .env(fuzz::HARNESS, harness)
        .env(fuzz::ROLE, role.name())
        .env(fuzz::K, k.to_string())
        .env(fuzz::KNOWN, known.join("\n"))
        .env_remove("RUST_BACKTRACE")
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // A corpus that can't be made smaller is used as it is.
    if merged.is_ok_and(|status| status.success()) && !strings(&new)?.is_empty() {
        exchange(dir, &new)?;
    }
    fs::remove_dir_all(&new).map_err(|e| file("remove", &new, e))
}

/// The prefix of the name of a string that meets a bug: such a string stays, whatever other strings cover.
const BUG: &str = "bug-";

/// Keeps a string that meets a bug. The name is made of the string, so one string is stored once.
pub(super) fn keep(dir: &Path, string: &[u8]) -> Result<(), Error> {
    let path = dir.join(format!("{BUG}{:016x}", digest(string)));
    crate::output::replace(&path, string).map_err(|e| file("write", &path, e))
}

/// Leaves in `dir` the strings of `new`, and those that meet a bug. If this is interrupted, no string of `new` is
/// missing.
fn exchange(dir: &Path, new: &Path) -> Result<(), Error> {
    let names = |dir: &Path| -> Result<BTreeSet<OsString>, Error> {
        let entries = fs::read_dir(dir).and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.file_name()))
                .collect()
        });
        entries.map_err(|e| file("read", dir, e))
    };
    let kept = names(new)?;
    for name in &kept {
        let to = dir.join(name);
        fs::rename(new.join(name), &to).map_err(|e| file("write", &to, e))?;
    }
    for name in names(dir)?.difference(&kept) {
        let path = dir.join(name);
        if !name.to_string_lossy().starts_with(BUG) {
            fs::remove_file(&path).map_err(|e| file("remove", &path, e))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wider_string_has_one_choice_more_that_is_none() {
        assert_eq!(widen(&[1, 2, 9, 9], 1), [1, 2, 255, 0, 9, 9]);
        assert_eq!(widen(&[9, 9], 0), [255, 0, 9, 9]);
        assert_eq!(widen(&[3], 2), [3, 0, 255, 0, 255, 0]);
        assert_eq!(widen(&[], 1), [255, 0, 255, 0]);
    }

    #[test]
    fn a_smaller_corpus_keeps_what_meets_a_bug() -> Result<(), Error> {
        let dir = tempfile::tempdir().map_err(Error::Output)?;
        let (old, new) = (dir.path().join("c"), dir.path().join("c.new"));
        for path in [&old, &new] {
            fs::create_dir(path).map_err(|e| file("create", path, e))?;
        }
        add(&old, [vec![1], vec![2], vec![3]])?;
        keep(&old, &[9])?;
        keep(&old, &[9])?;
        add(&new, [vec![2]])?;
        exchange(&old, &new)?;
        assert_eq!(strings(&old)?, BTreeSet::from([vec![2], vec![9]]));
        Ok(())
    }

    #[test]
    fn a_string_is_added_once() -> Result<(), Error> {
        let dir = tempfile::tempdir().map_err(Error::Output)?;
        add(dir.path(), [vec![1], vec![2], Vec::new()])?;
        add(dir.path(), [vec![2], vec![3]])?;
        let all = strings(dir.path())?;
        assert_eq!(all, BTreeSet::from([vec![1], vec![2], vec![3]]));
        Ok(())
    }
}
