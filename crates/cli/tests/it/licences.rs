//! What retime is built of may be given away as retime is: MIT, Apache-2.0 or BSD, as
//! CONTRIBUTING.md says, or more freely still.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

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

/// The platform of the compiler: what others would need may not be there.
fn host() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc).arg("-vV").output().unwrap().stdout;
    let version = String::from_utf8(version).unwrap();
    let mut lines = version.lines();
    lines
        .find_map(|it| it.strip_prefix("host: "))
        .unwrap()
        .to_owned()
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

#[test]
fn everything_may_be_given_away() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--offline", "--format-version", "1"]);
    cargo.args(["--filter-platform", &host()]);
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = cargo.current_dir(directory).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 50, "only {} packages", packages.len());
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let wrong: Vec<String> = packages
        .iter()
        .filter(|it| !is_allowed(&text(&it["license"])))
        .map(|it| format!("{}: {}", text(&it["name"]), it["license"]))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    // From the registry alone, so that what is built is what was published.
    let elsewhere = packages.iter().map(|it| text(&it["source"]));
    let elsewhere: Vec<String> = elsewhere
        .filter(|it| !it.is_empty() && !it.starts_with("registry+https://github.com/rust-lang/"))
        .collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
}
