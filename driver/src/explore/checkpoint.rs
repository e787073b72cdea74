//! Whether a search may go on from a file.

use std::path::Path;

use seqz_runtime::worker::checkpoint::{Contents, digest, read};

use super::{Checkpoint, Options};
use crate::error::Error;
use crate::layout::counted;

/// The seed of the search whose checkpoint this is, if there is one.
///
/// # Errors
/// When the file is no checkpoint.
pub fn seed(file: &Path) -> Result<Option<u64>, Error> {
    let fields = contents(file)?.fields.unwrap_or_default();
    let seed = fields.iter().find(|(name, _)| name == "seed");
    Ok(seed.and_then(|(_, seed)| seed.parse().ok()))
}

/// Says what of a file can't be used: the end, if a search was killed while it wrote the file, or all that comes after
/// damage.
fn lost(file: &Path, contents: &Contents) -> Option<String> {
    let Contents { length, lost, .. } = *contents;
    let bytes = counted(lost, "byte", "bytes");
    let what = if contents.fields.is_none() {
        "so that there is nothing to go on from, and the search begins anew".to_owned()
    } else {
        format!(
            "{} before that {}; what came later is searched again",
            counted(contents.bodies.len() as u64, "record", "records"),
            if contents.bodies.len() == 1 {
                "is kept"
            } else {
                "are kept"
            },
        )
    };
    (lost > 0).then(|| {
        format!(
            "the last {bytes} of the checkpoint {} are lost, as it is damaged or was not written to its end there (from byte \
             {length}): {what}",
            file.display()
        )
    })
}

fn contents(file: &Path) -> Result<Contents, Error> {
    match read(file) {
        Ok(contents) => Ok(contents),
        Err(error) => Err(Error::Option {
            message: format!("can't go on from {}: {error}", file.display()),
            help: "name a file that is not there yet to begin a search".into(),
        }),
    }
}

impl Checkpoint {
    /// Opens the checkpoint of a search of this harness by this worker.
    ///
    /// # Errors
    /// When the file is that of another search.
    pub fn new(
        file: &Path,
        worker: &Path,
        harness: &str,
        options: &Options,
    ) -> Result<Self, Error> {
        let unreadable = |error| Error::Option {
            message: format!("can't go on from {}: {error}", file.display()),
            help: "the file and the worker have to be readable".into(),
        };
        let program = std::fs::read(worker).map_err(unreadable)?;
        let inputs = options.inputs.iter();
        let inputs: Vec<_> = inputs
            .map(|(name, values)| format!("{name}={values}"))
            .collect();
        let own = vec![
            ("program", format!("{:016x}", digest(&program))),
            ("harness", harness.to_owned()),
            ("strategy", options.strategy.name.to_owned()),
            ("inputs", inputs.join(" ")),
            ("max-inputs", options.max_inputs.to_string()),
            ("seed", options.seed.to_string()),
            (
                "max-steps",
                match options.max_steps {
                    Some(steps) => steps.to_string(),
                    None => "as many as are needed".to_owned(),
                },
            ),
            ("spurious", format!("{:?}", options.spurious)),
            ("stack-size", options.stack_size.to_string()),
        ];
        let own: Vec<(String, String)> = own
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let before = contents(file)?;
        let lost = lost(file, &before);
        if let Some(known) = before.fields {
            let differs = |(one, other): &(&(String, String), &(String, String))| one != other;
            if let Some(((name, value), (_, before))) = own.iter().zip(&known).find(differs) {
                let what = match name.as_str() {
                    "program" => "the program, or how it is built, has changed since".to_owned(),
                    "inputs" => format!("its inputs were `{before}`, not `{value}`"),
                    "harness" | "strategy" => format!("its {name} is {before}, not {value}"),
                    _ => format!("its --{name} is {before}, not {value}"),
                };
                return Err(Error::Option {
                    message: format!(
                        "{} is the checkpoint of another search: {what}",
                        file.display()
                    ),
                    help: "name a file that is not there yet to begin a new search".into(),
                });
            }
        }
        Ok(Self {
            file: std::path::absolute(file).map_err(unreadable)?,
            fields: own,
            lost,
        })
    }
}
