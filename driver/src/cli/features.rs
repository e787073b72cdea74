//! Which features of a package are on, named as for cargo's own commands.

use clap::Args;

use crate::program::Features;

/// Which features of the package are on.
#[derive(Clone, Debug, Default, Args)]
pub struct FeatureArgs {
    /// Features of the package to turn on beside its default ones, separated by commas or spaces; may be given several times
    #[arg(long, short = 'F', value_name = "FEATURES")]
    features: Vec<String>,
    /// All features of the package
    #[arg(long)]
    all_features: bool,
    /// Without the default features of the package
    #[arg(long)]
    no_default_features: bool,
}

impl FeatureArgs {
    /// Returns what is asked for.
    pub(super) fn chosen(&self) -> Features {
        let names = self.features.iter().flat_map(|list| list.split([',', ' ']));
        Features {
            all: self.all_features,
            no_default: self.no_default_features,
            list: names
                .filter(|name| !name.is_empty())
                .map(str::to_owned)
                .collect(),
        }
    }
}
