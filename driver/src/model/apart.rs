//! Locks that have one name: a wrapper around a lock names each of them alike, and so does a collection. Where several of them
//! are taken in one execution, a number tells them apart.

use std::collections::{BTreeMap, BTreeSet};

/// The use of an object in an execution.
pub trait Uses {
    /// The number of the object, if it is a lock that is taken here.
    fn taken(&self) -> Option<u32>;
    /// The number of the object that has the name.
    fn object(&self) -> Option<u32>;
    /// The object's name.
    fn name(&mut self) -> &mut Option<String>;
}

/// Appends a number to the names of locks that share a name, in the order in which the execution created them.
pub fn number<U: Uses>(uses: &mut [U]) {
    let mut locks: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for it in uses.iter_mut() {
        if let (Some(object), Some(name)) = (it.taken(), it.name().clone()) {
            locks.entry(name).or_default().insert(object);
        }
    }
    locks.retain(|_, objects| objects.len() > 1);
    for it in uses {
        let object = it.object();
        let Some(name) = it.name() else { continue };
        let number = locks
            .get(name)
            .and_then(|all| all.iter().position(|one| Some(*one) == object));
        if let Some(number) = number {
            name.push_str(&format!(" ({})", number + 1));
        }
    }
}

/// Whether a name has a number.
#[must_use]
pub fn is_numbered(name: &str) -> bool {
    let number = name
        .strip_suffix(')')
        .and_then(|it| it.rsplit_once(" ("))
        .map(|(_, number)| number);
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Use(Option<String>, u32, bool);

    impl Uses for Use {
        fn taken(&self) -> Option<u32> {
            self.2.then_some(self.1)
        }
        fn object(&self) -> Option<u32> {
            Some(self.1)
        }
        fn name(&mut self) -> &mut Option<String> {
            &mut self.0
        }
    }

    #[test]
    fn locks_of_one_name_are_numbered_and_nothing_else_is() {
        let all = [
            ("a", 7, true),
            ("a", 3, true),
            ("a", 7, false),
            ("b", 1, true),
            ("x", 4, false),
            ("x", 5, false),
        ];
        let mut uses = all.map(|(name, object, taken)| Use(Some(name.to_owned()), object, taken));
        number(&mut uses);
        let names = uses.each_ref().map(|it| it.0.clone().unwrap_or_default());
        assert_eq!(names, ["a (2)", "a (1)", "a (2)", "b", "x", "x"]);
        assert!(is_numbered("a (2)") && !is_numbered("a") && !is_numbered("f (x)"));
    }
}
