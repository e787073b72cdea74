//! The libraries of a store as one sequence of bytes, which `build.rs` packs and the binary carries.

use std::fs;
use std::io;

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec;

use super::store::{KINDS, Store};

/// Higher levels take more time and save next to nothing.
const LEVEL: u8 = 6;

/// Packs the libraries of a store, in the order of their names.
///
/// # Errors
/// Errors of the file system.
pub(crate) fn pack(store: &Store) -> io::Result<Vec<u8>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(&store.0)? {
        let name = entry?.file_name().into_string();
        names.push(name.map_err(|name| io::Error::other(format!("{name:?} is not UTF-8")))?);
    }
    names.sort();
    let mut bytes = Vec::new();
    for name in names {
        part(&mut bytes, name.as_bytes());
        for kind in KINDS {
            let file = fs::read(store.0.join(&name).join(kind))?;
            part(&mut bytes, &compress_to_vec(&file, LEVEL));
        }
    }
    Ok(bytes)
}

fn part(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u64).to_le_bytes());
    bytes.extend(part);
}

/// Returns the names of the packed libraries, each with its compressed files in the order of [`KINDS`].
pub(crate) fn libraries(mut bytes: &[u8]) -> impl Iterator<Item = (&str, [&[u8]; KINDS.len()])> {
    std::iter::from_fn(move || {
        let name = str::from_utf8(next(&mut bytes)?).ok()?;
        let mut files = [&[][..]; KINDS.len()];
        for file in &mut files {
            *file = next(&mut bytes)?;
        }
        Some((name, files))
    })
}

fn next<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (part, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

/// Unpacks a packed library into a store.
///
/// # Errors
/// Errors of the file system, and an error for bytes that are no packed library.
pub(crate) fn unpack(store: &Store, name: &str, files: [&[u8]; KINDS.len()]) -> io::Result<()> {
    store.add(name, |kind, to| {
        let packed = KINDS.iter().zip(files).find(|(of, _)| **of == kind);
        let packed = packed.map_or(&[][..], |(_, packed)| packed);
        let file = decompress_to_vec(packed).map_err(|e| io::Error::other(e.to_string()))?;
        fs::write(to, &file)?;
        Ok(file.len() as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_whole() -> io::Result<()> {
        let dir = tempfile::tempdir()?;
        let store = Store(dir.path().join("from"));
        let text = |name: &str, kind: &str| format!("{name} {kind}").repeat(1000);
        for name in ["b", "a"] {
            store.add(name, |kind, to| {
                let text = text(name, kind);
                fs::write(to, &text)?;
                Ok(text.len() as u64)
            })?;
        }
        let bytes = pack(&store)?;
        assert!(bytes.len() < 1000, "{}", bytes.len());
        let other = Store(dir.path().join("to"));
        let mut names = Vec::new();
        for (name, files) in libraries(&bytes) {
            names.push(name);
            unpack(&other, name, files)?;
            for kind in KINDS {
                let file = fs::read_to_string(other.0.join(name).join(kind))?;
                assert_eq!(file, text(name, kind));
            }
        }
        assert_eq!(names, ["a", "b"]);
        // A truncated pack still has its whole libraries.
        assert_eq!(libraries(&bytes[..bytes.len() - 1]).count(), 1);
        Ok(())
    }
}
