//! Colours of the output. The streams drop them where they don't belong.

use anstyle::{AnsiColor, Style};

/// Plain text.
pub const NONE: Style = Style::new();
/// Secondary text.
pub const DIM: Style = Style::new().dimmed();
/// Headings.
pub const BOLD: Style = Style::new().bold();
/// Errors.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// Explanations of an error.
pub const MARK: Style = AnsiColor::Yellow.on_default();
/// Good results.
pub const GOOD: Style = AnsiColor::Green.on_default();
