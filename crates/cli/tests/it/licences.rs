//! What retime is built of may be given away as retime is: MIT, Apache-2.0 or BSD, as
//! CONTRIBUTING.md says, or more freely still.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Each of these allows what MIT does. `Unicode-3.0` is that of tables of characters.
const ALLOWED: [&str; 8] = [
    "MIT",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unlicense",
    "Unicode-3.0",
];

/// Whether a licence expression leaves a choice that is allowed: one of those between OR,
/// all of those between AND, which binds closer.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    parts(&expression, " OR ")
        .into_iter()
        .any(|choice| parts(choice, " AND ").into_iter().all(is_allowed_alone))
}

fn is_allowed_alone(part: &str) -> bool {
    let part = part.trim();
    match part.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
        Some(inner) => is_allowed(inner),
        None => ALLOWED.contains(&part),
    }
}

/// What lies between these words, as far as they are in no parentheses.
fn parts<'a>(expression: &'a str, between: &str) -> Vec<&'a str> {
    let (mut found, mut start) = (Vec::new(), 0);
    for (at, _) in expression.match_indices(between) {
        let before = &expression[start..at];
        if before.matches('(').count() == before.matches(')').count() {
            found.push(before);
            start = at + between.len();
        }
    }
    found.push(&expression[start..]);
    found
}

#[test]
fn expressions_are_understood() {
    assert!(is_allowed("MIT/Apache-2.0"));
    assert!(is_allowed("GPL-3.0 OR MIT"));
    assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0"));
    assert!(!is_allowed("GPL-3.0"));
    assert!(!is_allowed("MIT AND GPL-3.0"));
    assert!(!is_allowed("(MIT OR Apache-2.0) AND GPL-3.0"));
    assert!(!is_allowed("GPL-3.0 OR (MIT AND LGPL-2.1)"));
    assert!(!is_allowed(""));
}

/// The packages that `cargo test` builds, each as `name version (where from)|licence`. The rest
/// of the workspace may not have been fetched; `make deny` sees to that.
#[test]
fn everything_may_be_given_away() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "--prefix", "none"]);
    cargo.args(["--edges", "normal,build,dev"]);
    cargo.args(["--format", "{p}|{l}"]);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = cargo.current_dir(&workspace).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).unwrap();
    // A package whose dependencies are told elsewhere has a star.
    let lines = tree.lines().map(|it| it.trim_end_matches(" (*)"));
    let packages: BTreeSet<&str> = lines.filter(|it| !it.is_empty()).collect();
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let (mut wrong, mut elsewhere) = (Vec::new(), Vec::new());
    let own = format!("({}", workspace.canonicalize().unwrap().display());
    for package in packages {
        let (name, licence) = package.split_once('|').unwrap();
        if !is_allowed(licence) {
            wrong.push(package);
        }
        // What comes from the registry has no parenthesis, but for what a macro is.
        let from = name.split_once(" (").map(|(_, rest)| format!("({rest}"));
        if from.is_some_and(|it| it != "(proc-macro)" && !it.starts_with(&own)) {
            elsewhere.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // From the registry alone, so that what is built is what was published.
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}

/// A crate is published as its directory, so the licences have to lie in it.
#[test]
fn each_crate_that_is_published_holds_its_licences() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = |directory: &Path, name: &str| std::fs::read_to_string(directory.join(name));
    let (mut published, mut lacking) = (0, Vec::new());
    for entry in std::fs::read_dir(&crates).unwrap() {
        let directory = entry.unwrap().path();
        let manifest = text(&directory, "Cargo.toml").unwrap();
        if manifest.contains("publish = false") {
            continue;
        }
        published += 1;
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let whole = text(&crates.join(".."), name).unwrap();
            if text(&directory, name).ok() != Some(whole) {
                lacking.push(directory.join(name));
            }
        }
    }
    assert!(published > 20, "{published} crates");
    assert!(lacking.is_empty(), "{lacking:#?}");
}
