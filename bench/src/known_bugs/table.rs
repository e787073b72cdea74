//! The table of what was found.

use super::Row;
use super::package::Bug;
use super::searched::Searched;

/// The lines of the page between which the table stands.
const BEGIN: &str = "<!-- The table is made by seqz-bench known-bugs. -->";
const END: &str = "<!-- end of the table -->";

const HEAD: &str = "\
| bug | affected | found | executions until then | fixed | what the search says |
|---|---|---|---|---|---|";

/// A row of the table.
pub(super) fn line(row: &Row<'_>) -> String {
    let Row {
        bug,
        affected,
        fixed,
    } = row;
    let found = if bug.is_found(affected) {
        affected.kinds.join(", ")
    } else {
        format!("{NOT_FOUND}: {}", short(affected))
    };
    let first = affected.first.map_or_else(
        || affected.executions.to_string(),
        |first| first.to_string(),
    );
    let (mended, clean) = match (&bug.fixed, fixed) {
        (Some(version), Some(fixed)) => (version.as_str(), cleanness(bug, fixed)),
        _ => (NONE, String::new()),
    };
    format!(
        "{}| {} | {found} | {first} | {mended} | {clean} |",
        head(bug),
        bug.affected,
    )
}

/// What the search of the mended version says.
fn cleanness(bug: &Bug, fixed: &Searched) -> String {
    if !bug.is_clean(fixed) {
        return format!("{NOT_CLEAN}: {}", short(fixed));
    }
    let verdict = fixed.verdict.split(';').next().unwrap_or_default();
    let but = match &bug.remains {
        Some(remains) if !fixed.kinds.is_empty() => {
            format!(", but for {} ({})", fixed.kinds.join(", "), remains.told)
        }
        _ => String::new(),
    };
    let said = format!("clean{but}, {} executions", fixed.executions);
    format!("{said}: {}", clipped(verdict))
}

/// What stands for the version that mends a bug, where none does.
const NONE: &str = "none yet";

/// How a row begins that has not found its bug, and how one whose mended version fails.
const NOT_FOUND: &str = "**no**";
const NOT_CLEAN: &str = "**not clean**";

/// The beginning of a bug's row, by which the row is known again.
fn head(bug: &Bug) -> String {
    format!("| {}: {} ({}) ", bug.of, bug.what, bug.told)
}

fn short(searched: &Searched) -> String {
    match &searched.wrong {
        Some(wrong) => clipped(wrong),
        None if searched.kinds.is_empty() => clipped(&searched.verdict),
        None => searched.kinds.join(", "),
    }
}

/// As much of a text as fits into a cell.
fn clipped(text: &str) -> String {
    const MOST: usize = 160;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Puts these rows into the page's table, in the order of all bugs. What the table has of the others stays.
pub(super) fn insert(page: &str, all: &[Bug], rows: &[String]) -> String {
    let (Some(begin), Some(end)) = (page.find(BEGIN), page.find(END)) else {
        return page.to_owned();
    };
    let old: Vec<String> = page[begin..end].lines().map(str::to_owned).collect();
    let lines = all.iter().filter_map(|bug| {
        let head = head(bug);
        let mut known = rows.iter().chain(&old);
        known.find(|line| line.starts_with(&head)).cloned()
    });
    let lines: Vec<String> = lines.collect();
    format!(
        "{}{BEGIN}\n{HEAD}\n{}\n\n{}\n{}",
        &page[..begin],
        lines.join("\n"),
        summary(&lines, all.len()),
        &page[end..]
    )
}

/// How many of these rows' bugs were found, in a sentence.
pub(super) fn summary(lines: &[String], all: usize) -> String {
    let count = |word: &str| lines.iter().filter(|line| !line.contains(word)).count();
    let rest = match all - lines.len() {
        0 => String::new(),
        rest => format!(" {rest} more have not been run."),
    };
    let open = lines.len() - count(NONE);
    format!(
        "Of {} known bugs, {} are found in the version that has them; {} of the {} mended versions are clean.{rest}",
        lines.len(),
        count(NOT_FOUND),
        count(NOT_CLEAN) - open,
        lines.len() - open,
    )
}
