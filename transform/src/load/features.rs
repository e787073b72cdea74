//! Which features of the package are on: those that are on by default, and what the command line says.

use std::collections::BTreeSet;

use toml::Value;

use super::dependencies::Dependencies;

/// A choice of features, as cargo's commands take it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// All features of the package.
    pub all: bool,
    /// Without those that are on by default.
    pub no_default: bool,
    /// These features: `feature`, or `dependency/feature`.
    pub list: Vec<String>,
}

impl Features {
    /// Returns the choice as arguments of a cargo command.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if self.all {
            arguments.push("--all-features".to_owned());
        }
        if self.no_default {
            arguments.push("--no-default-features".to_owned());
        }
        if !self.list.is_empty() {
            arguments.extend(["--features".to_owned(), self.list.join(",")]);
        }
        arguments
    }
}

impl Dependencies {
    /// Makes these features the ones that are on by default, beside those that the tests need.
    ///
    /// # Errors
    /// With the first name that is no feature, and all features that there are.
    pub(super) fn choose(&mut self, features: &Features) -> Result<(), (String, Vec<String>)> {
        if *features == Features::default() {
            return Ok(());
        }
        let known = self.all_features();
        for name in &features.list {
            if !name.contains('/') && name != "default" && !known.contains(name) {
                return Err((name.clone(), known.into_iter().collect()));
            }
        }
        let mut on: Vec<Value> = match self.features.get("default") {
            Some(Value::Array(default)) => default.clone(),
            _ => Vec::new(),
        };
        if features.no_default {
            on.drain(..self.declared_default.min(on.len()));
        }
        let all = known.iter().filter(|_| features.all);
        // `default` is what is on, and can't name itself.
        let more = all.chain(features.list.iter().filter(|it| *it != "default"));
        on.extend(more.cloned().map(Value::String));
        self.features.insert("default".into(), Value::Array(on));
        Ok(())
    }

    /// Returns the features that can be named: those of the manifest, and optional dependencies that no feature names with
    /// `dep:`.
    fn all_features(&self) -> BTreeSet<String> {
        let lists = self.features.values().filter_map(Value::as_array);
        let named: BTreeSet<&str> = lists
            .flatten()
            .filter_map(|it| it.as_str()?.strip_prefix("dep:"))
            .collect();
        let own = self
            .features
            .keys()
            .filter(|it| !super::dependencies::is_of_tests(it));
        let optional = self.optional().filter(|it| !named.contains(it.as_str()));
        let mut all: BTreeSet<String> = own.chain(optional).cloned().collect();
        all.remove("default");
        all
    }
}
