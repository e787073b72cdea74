//! A comparison as a table of comma-separated values (RFC 4180): a row for each run and bug, or for the run alone if it found
//! none.

use std::io::{self, Write};

use super::document::{Comparison, Found, Run, Subject};

const HEAD: &str = "program,harness,inputs,method,ended,executions,seconds,memory,bug,kind,file,line,k,bug_executions,bug_seconds";

/// Writes the table.
///
/// # Errors
/// Errors of writing to `out`.
pub fn write(out: &mut dyn Write, comparison: &Comparison) -> io::Result<()> {
    write!(out, "{HEAD}\r\n")?;
    for program in &comparison.programs {
        for run in &program.runs {
            let bugs = run.found.iter().map(|found| {
                let bug = &program.bugs[found.bug];
                let site = bug.sites.first();
                [
                    (found.bug + 1).to_string(),
                    serde_json::to_value(bug.kind)
                        .ok()
                        .and_then(|kind| kind.as_str().map(str::to_owned))
                        .unwrap_or_default(),
                    site.map(|site| site.file.clone()).unwrap_or_default(),
                    site.map(|site| site.line.to_string()).unwrap_or_default(),
                ]
                .into_iter()
                .chain(measured(found))
                .collect()
            });
            let mut bugs: Vec<Vec<String>> = bugs.collect();
            if bugs.is_empty() {
                bugs.push(vec![String::new(); 7]);
            }
            for bug in bugs {
                row(out, &program.subject, run, &bug)?;
            }
        }
    }
    Ok(())
}

fn measured(found: &Found) -> [String; 3] {
    [
        found.k.map(|k| k.to_string()).unwrap_or_default(),
        found.executions.map(|n| n.to_string()).unwrap_or_default(),
        found.seconds.to_string(),
    ]
}

fn row(out: &mut dyn Write, subject: &Subject, run: &Run, bug: &[String]) -> io::Result<()> {
    let inputs = subject
        .inputs
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let fields = [
        subject.path.clone(),
        subject.harness.clone(),
        inputs.collect::<Vec<_>>().join(" "),
        run.method.clone(),
        run.ended.word().into(),
        run.executions.map(|n| n.to_string()).unwrap_or_default(),
        run.seconds.to_string(),
        run.memory.map(|n| n.to_string()).unwrap_or_default(),
    ];
    let all: Vec<_> = fields
        .iter()
        .chain(bug)
        .map(|field| quoted(field))
        .collect();
    write!(out, "{}\r\n", all.join(","))
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
