//! docs/TERMS.md has each term once, few enough to be read, and names types that exist.

use std::collections::BTreeSet;
use std::fs;

use super::{crates, source_directories, sources};

/// More would not be read.
const MOST: usize = 80;

/// A row of a table: a term, and the types that stand for it.
struct Term<'a> {
    name: &'a str,
    types: Vec<&'a str>,
}

fn terms(page: &str) -> Vec<Term<'_>> {
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let &["", name, _, types, _, ""] = cells.as_slice() else {
            return None;
        };
        let types = types.split(['`', ',', ' ']).filter(|it| !it.is_empty());
        Some(Term {
            name,
            types: types.collect(),
        })
    });
    rows.filter(|it| it.name != "term" && !it.name.starts_with('-'))
        .collect()
}

/// The names of all types that some crate defines.
fn defined() -> BTreeSet<String> {
    let files = source_directories().into_values();
    let files = files.flat_map(|it| sources(&it));
    let mut names = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(file).unwrap();
        let mut words = text.split(|it: char| !it.is_alphanumeric() && it != '_');
        while let Some(word) = words.next() {
            if matches!(word, "struct" | "enum" | "trait" | "type") {
                names.extend(words.next().map(str::to_owned));
            }
        }
    }
    names
}

#[test]
fn terms_are_few_and_their_types_exist() {
    let page = fs::read_to_string(crates().join("../docs/TERMS.md")).unwrap();
    let terms = terms(&page);
    let names: BTreeSet<&str> = terms.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), terms.len(), "a term is defined twice");
    assert!((40..=MOST).contains(&terms.len()), "{} terms", terms.len());
    let defined = defined();
    let types = terms.iter().flat_map(|it| &it.types);
    let unknown: Vec<_> = types.filter(|it| !defined.contains(**it)).collect();
    assert!(unknown.is_empty(), "no such types: {unknown:?}");
}
