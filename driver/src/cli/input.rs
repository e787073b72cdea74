//! `--input NAME=VALUES`.

use std::str::FromStr;

/// Values for one parameter of a harness, as given on the command line. What the values mean depends on the parameter's
/// type, so the program that has the type reads them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSpec {
    /// The parameter's name.
    pub name: String,
    /// A range (`0..8`, `0..=7`) or a list (`ann,bob`).
    pub values: String,
}

impl FromStr for InputSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, values)) = text.split_once('=') else {
            return Err("expected NAME=VALUES, like `n=0..=7` or `name=ann,bob`".into());
        };
        // `n==3` or `n=` is a slip; an empty string as the only value would be written `n=""`.
        let (name, values) = (name.trim(), values.trim());
        if name.is_empty()
            || !name
                .chars()
                .all(|c| c == '_' || c == '#' || c.is_alphanumeric())
        {
            return Err(format!("`{name}` is not the name of a parameter"));
        }
        if values.is_empty() {
            return Err(format!("no values are given for `{name}`"));
        }
        Ok(Self {
            name: name.to_owned(),
            values: values.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_the_first_equals_sign() {
        let spec: InputSpec = "n=0..=7".parse().unwrap();
        assert_eq!((spec.name.as_str(), spec.values.as_str()), ("n", "0..=7"));
    }

    #[test]
    fn refuses_what_has_no_name_or_no_values() {
        for bad in ["n", "=3", "n=", "a b=3", ""] {
            assert!(bad.parse::<InputSpec>().is_err(), "{bad}");
        }
    }
}
