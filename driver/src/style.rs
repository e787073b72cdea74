//! Colours. The streams drop them where they don't belong.

use anstyle::{AnsiColor, Style};

/// As it comes.
pub const NONE: Style = Style::new();
/// What is secondary.
pub const DIM: Style = Style::new().dimmed();
/// Headings.
pub const BOLD: Style = Style::new().bold();
/// What is wrong.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// What explains it.
pub const MARK: Style = AnsiColor::Yellow.on_default();
/// What is well.
pub const GOOD: Style = AnsiColor::Green.on_default();
