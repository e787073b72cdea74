//! Texts of pages and pictures.

use maud::{Markup, html};

use crate::model::document::Site;
use crate::model::schedule::Action;
use crate::model::words::{self, Places};
use crate::report::reasonless::GOES_ON;
use crate::report::scene::Event;
use crate::visible::visible;

/// Returns `text` without characters that XML can't hold and that no reader could see: each is replaced by Unicode's
/// picture of the control character, or else by U+FFFD. Line ends and tabs stay. A character that changes the direction
/// of text is replaced by an escape.
#[must_use]
pub(crate) fn clean(text: &str) -> String {
    visible(text)
        .chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
            '\x7f' => '\u{2421}',
            // The other control characters, and the characters that XML excludes.
            '\u{80}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            _ => c,
        })
        .collect()
}

/// Returns a thread's tag for the text.
#[must_use]
pub(crate) fn named(tag: &str) -> String {
    if tag.starts_with('T') {
        tag.to_owned()
    } else {
        format!("thread {tag}")
    }
}

/// Returns the verb for what an event does.
#[must_use]
pub(crate) const fn verb(action: Action) -> &'static str {
    match action {
        Action::Local => "goes on",
        Action::Fence => "makes a fence",
        Action::Read => "reads",
        Action::Write => "writes",
        Action::Update => "updates",
        Action::CompareExchange => "tries to update",
        Action::FailedUpdate => "fails to update",
        Action::Lock | Action::TryLock => "locks",
        Action::LockShared | Action::TryLockShared => "locks (shared)",
        Action::TryLockFailed | Action::TryLockSharedFailed => "finds locked",
        Action::Unlock => "unlocks",
        Action::UnlockShared => "unlocks (shared)",
        Action::Fork => "starts",
        Action::Begin => "begins",
        Action::End => "ends",
        Action::Join => "joins",
        Action::Wait => "waits for",
        Action::Wake => "is notified by",
        Action::Notify => "notifies",
    }
}

/// Returns the object of an event: a variable's name, or a thread.
#[must_use]
pub(crate) fn object(event: &Event<'_>) -> Option<String> {
    match event.action {
        Action::Local | Action::Begin | Action::End | Action::Fence => None,
        Action::Fork | Action::Join => event.object.map(|thread| format!("thread {thread}")),
        _ => event
            .variable
            .map(clean)
            .or_else(|| event.object.map(|object| format!("#{object}"))),
    }
}

/// Describes an event: "line 39 updates pending_io = 0".
#[must_use]
pub(crate) fn event(event: &Event<'_>, places: Places) -> String {
    let place = event.site.map_or_else(String::new, |site| {
        format!("{} ", clean(&places.name(site)))
    });
    if event.reasonless {
        return format!("{place}{GOES_ON}");
    }
    let object = object(event).map_or_else(String::new, |object| format!(" {object}"));
    let value = event
        .value
        .map_or_else(String::new, |value| format!(" = {}", clean(value)));
    format!("{place}{}{object}{value}", verb(event.action))
}

/// Describes an event in few characters: "39 updates pending_io".
#[must_use]
pub(crate) fn short(event: &Event<'_>, most: usize) -> String {
    let place = event
        .site
        .map_or_else(String::new, |site| format!("{} ", site.line));
    if event.reasonless {
        return crate::layout::fit(&format!("{place}{GOES_ON}"), most);
    }
    let object = object(event).map_or_else(String::new, |object| format!(" {object}"));
    crate::layout::fit(&format!("{place}{}{object}", verb(event.action)), most)
}

/// Marks text between backquotes as code.
pub(crate) fn code_marks(text: &str) -> Markup {
    let text = clean(text);
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

/// Returns `file:line:column`.
#[must_use]
pub(crate) fn place(site: &Site) -> String {
    clean(&format!("{}:{}:{}", site.file, site.line, site.column))
}

/// Describes the release of a lock by a guard that goes out of scope, which has no place of its own.
#[must_use]
pub(crate) fn unlocks(event: &Event<'_>, places: Places) -> String {
    words::unlocks(event.variable, event.site, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_xml_excludes_is_left() {
        let all: String = ('\0'..='\u{2fff}')
            .chain(['\u{fffd}', '\u{fffe}', '\u{ffff}', '𝄞'])
            .collect();
        let allowed = |c: char| matches!(c, '\t' | '\n' | '\u{20}'..='\u{7e}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
        let cleaned = clean(&all);
        assert!(cleaned.chars().all(allowed));
        assert!(!cleaned.contains('\u{202e}'));
        assert!(cleaned.contains("\\u{202e}"));
        let straight: String = all.chars().filter(|c| !crate::visible::turns(*c)).collect();
        assert_eq!(clean(&straight).chars().count(), straight.chars().count());
    }

    #[test]
    fn ordinary_text_stays() {
        let text = "if a < b && \"é漢字\" { x\t= 'y' }\n";
        assert_eq!(clean(text), text);
    }
}
