//! Chooses among the harnesses, and explains why none can be chosen.

use super::Harness;
use crate::error::Error;
use crate::load::Crate;
use crate::options::Choice;
use crate::resolve::ItemKind;
use crate::walk::Analysis;

/// Returns the harnesses to generate.
pub(crate) fn choose<'h>(
    program: &Crate,
    analysis: &Analysis,
    harnesses: &'h [Harness],
    wanted: &Choice,
) -> Result<Vec<&'h Harness>, Error> {
    let path = program.files[0].source.path.clone();
    if harnesses.is_empty() {
        return Err(Error::NoHarness {
            path,
            looked_for: looked_for(program, analysis),
        });
    }
    let ignored = match wanted {
        Choice::One(wanted) => return by_name(harnesses, wanted).map(|harness| vec![harness]),
        Choice::AllWith(ignored) => ignored,
    };
    let is_chosen =
        |harness: &Harness| !harness.info.ignored || ignored.contains(&harness.info.name);
    let usable: Vec<&Harness> = harnesses
        .iter()
        .filter(|harness| harness.info.unsupported.is_none() && is_chosen(harness))
        .collect();
    if usable.is_empty() {
        let errors = harnesses
            .iter()
            .filter_map(|harness| harness.info.unsupported.as_ref())
            .flat_map(|error| error.each().to_vec())
            .collect();
        return Err(
            Error::from_list(errors).unwrap_or_else(|| Error::NoHarness {
                path,
                looked_for: "all harnesses are marked `#[ignore]`; name one with `--harness`"
                    .into(),
            }),
        );
    }
    Ok(usable)
}

fn by_name<'h>(harnesses: &'h [Harness], wanted: &str) -> Result<&'h Harness, Error> {
    let exact = harnesses.iter().find(|harness| harness.info.name == wanted);
    // The last part of the path is enough where it is unambiguous.
    let tail = || {
        let suffix = format!("::{wanted}");
        let mut matching = harnesses
            .iter()
            .filter(|harness| harness.info.name.ends_with(&suffix));
        matching.next().filter(|_| matching.next().is_none())
    };
    let Some(harness) = exact.or_else(tail) else {
        let known: Vec<String> = harnesses
            .iter()
            .map(|harness| harness.info.name.clone())
            .collect();
        return Err(Error::UnknownHarness {
            name: wanted.into(),
            suggestions: suggestions(&known, wanted),
            known,
        });
    };
    match &harness.info.unsupported {
        Some(error) => Err(error.clone()),
        None => Ok(harness),
    }
}

/// Returns names that differ from the wanted name by a few letters, or that contain it.
fn suggestions(known: &[String], wanted: &str) -> Vec<String> {
    let last = |name: &str| name.rsplit("::").next().unwrap_or(name).to_string();
    let mut near: Vec<(usize, &String)> = known
        .iter()
        .map(|name| {
            let distance = distance(name, wanted).min(distance(&last(name), &last(wanted)));
            (if name.contains(wanted) { 0 } else { distance }, name)
        })
        .filter(|(distance, _)| *distance <= wanted.len() / 3 + 1)
        .collect();
    near.sort();
    near.into_iter()
        .take(3)
        .map(|(_, name)| name.clone())
        .collect()
}

/// Returns Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

/// Names the functions that count as harnesses, and the functions that come closest.
fn looked_for(program: &Crate, analysis: &Analysis) -> String {
    let mut text = "looked for a `#[test]`, a `pub fn` or a `main` that starts a thread with `std::thread::spawn`, \
                    `thread::Builder` or `thread::scope`, itself or through functions of the crate"
        .to_string();
    let mut starters: Vec<(usize, usize, &str)> = analysis
        .facts
        .iter()
        .filter(|(_, facts)| !facts.spawns.is_empty())
        .map(|(item, _)| &analysis.tables.items[*item])
        .filter(|data| matches!(data.kind, ItemKind::Fn(_) | ItemKind::Method(..)))
        .map(|data| (data.file, data.at, data.name.as_str()))
        .collect();
    starters.sort();
    if let Some((file, at, name)) = starters.first() {
        let source = &program.files[*file].source;
        let line = source.text.position(*at).line;
        text.push_str(&format!(
            "; `{name}` at {}:{line} starts one, but is none of these: call it from a `#[test]`",
            source.path.display()
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested() {
        let known = [
            "tests::increments".to_string(),
            "tests::transfer".to_string(),
            "main".to_string(),
        ];
        assert_eq!(suggestions(&known, "incremnts"), ["tests::increments"]);
        assert_eq!(suggestions(&known, "transfer_it"), ["tests::transfer"]);
        assert!(suggestions(&known, "something").is_empty());
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
