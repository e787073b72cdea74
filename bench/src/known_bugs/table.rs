//! The table of what was found.

use super::Row;
use super::searched::Searched;

/// The lines of the page between which the table stands.
const BEGIN: &str = "<!-- The table is made by seqz-bench known-bugs. -->";
const END: &str = "<!-- end of the table -->";

const HEAD: &str = "\
| bug | affected | found | executions until then | fixed | what the search says |
|---|---|---|---|---|---|";

/// A row of the table.
pub(super) fn line(row: &Row) -> String {
    let Row {
        bug,
        affected,
        fixed,
    } = row;
    let found = if bug.is_found(affected) {
        format!("{} in {:.1} s", affected.kinds.join(", "), affected.seconds)
    } else {
        format!("**no**: {}", short(affected))
    };
    let first = affected.first.map_or_else(
        || affected.executions.to_string(),
        |first| first.to_string(),
    );
    let clean = if fixed.is_clean() {
        let verdict = fixed.verdict.split(';').next().unwrap_or_default();
        format!("clean, {} executions: {verdict}", fixed.executions)
    } else {
        format!("**not clean**: {}", short(fixed))
    };
    format!(
        "| {}: {} ({}) | {} | {found} | {first} | {} | {clean} |",
        bug.of, bug.what, bug.told, bug.affected, bug.fixed
    )
}

fn short(searched: &Searched) -> String {
    match &searched.wrong {
        Some(wrong) => wrong.clone(),
        None if searched.kinds.is_empty() => searched.verdict.clone(),
        None => searched.kinds.join(", "),
    }
}

/// Puts the table into the page.
pub(super) fn insert(page: &str, rows: &[Row]) -> String {
    let (Some(begin), Some(end)) = (page.find(BEGIN), page.find(END)) else {
        return page.to_owned();
    };
    let lines: Vec<String> = rows.iter().map(line).collect();
    let lines = lines.join("\n");
    let summary = summary(rows);
    format!(
        "{}{BEGIN}\n{HEAD}\n{lines}\n\n{summary}\n{}",
        &page[..begin],
        &page[end..]
    )
}

/// How many were found, in a sentence.
pub(super) fn summary(rows: &[Row]) -> String {
    let count = |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
    format!(
        "Of {} known bugs, {} are found in the version that has them; {} of the mended versions are clean.",
        rows.len(),
        count(&|row| row.bug.is_found(&row.affected)),
        count(&|row| row.fixed.is_clean()),
    )
}
