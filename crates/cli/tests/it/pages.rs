//! Pages of the documentation: where their links lead, and that none is left out of the index.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::common::Scratch;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All pages, by their paths in the repository.
fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for directory in ["", "docs", "docs/methods", "docs/decisions"] {
        for entry in fs::read_dir(root().join(directory)).unwrap() {
            let name = entry.unwrap().file_name();
            let path = Path::new(directory).join(name);
            if path.extension().is_some_and(|it| it == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// The text of a page without blocks of code.
fn prose(page: &Path) -> String {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let parts = text.split("```").step_by(2);
    parts.collect()
}

/// What a page links, web addresses aside.
fn links(page: &Path) -> Vec<String> {
    let prose = prose(page);
    let links = prose
        .split("](")
        .skip(1)
        .filter_map(|it| it.split_once(')'));
    let links = links.map(|(link, _)| link.to_owned());
    links.filter(|it| !it.contains("://")).collect()
}

/// The path of a link in the repository, and the heading it names.
fn target(page: &Path, link: &str) -> (PathBuf, Option<String>) {
    let (path, heading) = match link.split_once('#') {
        Some((path, heading)) => (path, Some(heading.to_owned())),
        None => (link, None),
    };
    if path.is_empty() {
        return (page.to_owned(), heading);
    }
    let mut target = PathBuf::new();
    for part in page.parent().unwrap().join(path).components() {
        if part == Component::ParentDir {
            target.pop();
        } else {
            target.push(part);
        }
    }
    (target, heading)
}

/// The names by which headings of a page are linked: lower case, words joined by hyphens,
/// without marks and punctuation.
fn headings(page: &Path) -> BTreeSet<String> {
    let prose = prose(page);
    let headings = prose.lines().filter(|it| it.starts_with('#'));
    let named = headings.map(|it| {
        let kept = it.trim_start_matches('#').trim().to_lowercase();
        let kept = kept.replace(' ', "-");
        let is_kept = |it: &char| it.is_alphanumeric() || matches!(it, '-' | '_');
        kept.chars().filter(is_kept).collect()
    });
    named.collect()
}

#[test]
fn links_lead_somewhere() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for page in pages() {
        for link in links(&page) {
            seen += 1;
            let (path, heading) = target(&page, &link);
            let is_there = root().join(&path).exists();
            let is_page = path.extension().is_some_and(|it| it == "md");
            let has = |heading: &String| !is_page || headings(&path).contains(heading);
            if !is_there || !heading.iter().all(has) {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(seen > 100, "only {seen} links were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_index_names_every_page() {
    let linked = |page: &str| -> BTreeSet<PathBuf> {
        let page = Path::new(page);
        let links = links(page);
        links.iter().map(|it| target(page, it).0).collect()
    };
    let mut listed = linked("docs/README.md");
    listed.extend(linked("docs/decisions/README.md"));
    let mut missing = pages();
    missing.retain(|it| it.starts_with("docs") && !listed.contains(it));
    missing.retain(|it| it != Path::new("docs/README.md"));
    assert!(missing.is_empty(), "{missing:#?}");
}

/// `make book` gives a chapter to every page, and each link of these finds its target there.
#[test]
fn the_book_has_every_page() {
    let scratch = Scratch::new();
    let book = scratch.join("book");
    let done = Command::new(root().join("tools/book")).arg(&book).status();
    assert!(done.unwrap().success());
    let summary = fs::read_to_string(book.join("src/SUMMARY.md")).unwrap();
    for page in pages() {
        let chapter = format!("]({})", page.to_str().unwrap());
        assert!(summary.contains(&chapter), "{}", page.display());
        let laid = book.join("src").join(&page);
        assert_eq!(
            fs::read(&laid).unwrap(),
            fs::read(root().join(&page)).unwrap()
        );
        for link in links(&page) {
            let (target, _) = target(&page, &link);
            assert!(book.join("src").join(&target).exists(), "{link}");
        }
    }
}

/// The way of a newcomer: each page ends before a coffee does.
#[test]
fn the_architecture_fits_one_sitting() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let words = text.split_whitespace().count();
    assert!(words <= 2_500, "{words} words");
}
