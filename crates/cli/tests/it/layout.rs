//! What may depend on what, of crates and of their modules. ARCHITECTURE.md says why.

mod circles;
mod terms;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The crates of the workspace, and those of them that each depends on.
const CRATES: [(&str, &[&str]); 34] = [
    ("retime-model", &[]),
    ("retime-numerics", &["retime-model"]),
    ("retime-causality", &["retime-model", "retime-numerics"]),
    (
        "retime-logical-clocks",
        &["retime-causality", "retime-model", "retime-numerics"],
    ),
    (
        "retime-clocks",
        &[
            "retime-causality",
            "retime-logical-clocks",
            "retime-model",
            "retime-numerics",
        ],
    ),
    (
        "retime-bounds",
        &[
            "retime-causality",
            "retime-clocks",
            "retime-model",
            "retime-numerics",
        ],
    ),
    (
        "retime-alignment",
        &[
            "retime-bounds",
            "retime-causality",
            "retime-clocks",
            "retime-model",
            "retime-numerics",
        ],
    ),
    (
        "retime-stragglers",
        &[
            "retime-bounds",
            "retime-causality",
            "retime-model",
            "retime-numerics",
        ],
    ),
    (
        "retime",
        &[
            "retime-alignment",
            "retime-bounds",
            "retime-causality",
            "retime-clocks",
            "retime-logical-clocks",
            "retime-model",
            "retime-numerics",
            "retime-stragglers",
        ],
    ),
    ("retime-methods", &["retime", "retime-numerics"]),
    ("retime-measure", &["retime-model"]),
    ("retime-otf2", &["retime-model"]),
    ("retime-otf2-format", &["retime-model", "retime-otf2"]),
    ("retime-jsonl", &["retime-gzip", "retime-model"]),
    ("retime-gzip", &[]),
    ("retime-perfetto-wire", &[]),
    ("retime-chrome-json", &[]),
    (
        "retime-kineto",
        &["retime-chrome-json", "retime-gzip", "retime-model"],
    ),
    (
        "retime-perfetto",
        &[
            "retime-gzip",
            "retime-kineto",
            "retime-model",
            "retime-perfetto-wire",
        ],
    ),
    (
        "retime-stream",
        &[
            "retime-jsonl",
            "retime-logical-clocks",
            "retime-model",
            "retime-numerics",
        ],
    ),
    ("retime-distributed", &["retime", "retime-model"]),
    (
        "retime-parallel",
        &["retime", "retime-distributed", "retime-model"],
    ),
    ("retime-picture", &["retime"]),
    (
        "retime-export",
        &["retime", "retime-gzip", "retime-perfetto-wire"],
    ),
    (
        "retime-merge",
        &[
            "retime-chrome-json",
            "retime-gzip",
            "retime-kineto",
            "retime-model",
            "retime-perfetto",
            "retime-perfetto-wire",
        ],
    ),
    (
        "retime-sim",
        &["retime-causality", "retime-model", "retime-otf2"],
    ),
    (
        "retime-testing",
        &["retime-model", "retime-perfetto-wire", "retime-sim"],
    ),
    (
        "retime-experiments",
        &[
            "retime",
            "retime-methods",
            "retime-otf2",
            "retime-sim",
            "retime-stream",
        ],
    ),
    (
        "retime-cli",
        &[
            "retime",
            "retime-distributed",
            "retime-experiments",
            "retime-export",
            "retime-gzip",
            "retime-jsonl",
            "retime-kineto",
            "retime-merge",
            "retime-methods",
            "retime-otf2-format",
            "retime-parallel",
            "retime-perfetto",
            "retime-picture",
            "retime-sim",
            "retime-stream",
        ],
    ),
    (
        "retime-fuzz",
        &[
            "retime",
            "retime-cli",
            "retime-jsonl",
            "retime-kineto",
            "retime-merge",
            "retime-otf2",
            "retime-otf2-format",
            "retime-perfetto",
            "retime-perfetto-wire",
            "retime-sim",
        ],
    ),
    (
        "retime-mpi",
        &[
            "retime-cli",
            "retime-measure",
            "retime-model",
            "retime-parallel",
        ],
    ),
    (
        "retime-pmpi",
        &["retime-logical-clocks", "retime-measure", "retime-model"],
    ),
    ("retime-python", &["retime", "retime-cli", "retime-stream"]),
    ("retime-capi", &["retime", "retime-cli", "retime-stream"]),
];

/// What everyone who links the library links too stays small: no threads, no
/// numerics, of the system what files need, and checksums, which every format has of its files.
const MODEL_NEEDS: [&str; 5] = ["crc32fast", "rustc-hash", "rustix", "serde", "thiserror"];

/// Crates whose modules form layers. The records of OTF2 refer to one another, and so
/// do the modules of `retime-otf2`.
const LAYERED: [&str; 30] = [
    "model",
    "numerics",
    "causality",
    "logical-clocks",
    "clocks",
    "bounds",
    "alignment",
    "stragglers",
    "retime",
    "methods",
    "measure",
    "otf2-format",
    "jsonl",
    "chrome-json",
    "kineto",
    "stream",
    "distributed",
    "parallel",
    "picture",
    "perfetto",
    "perfetto-wire",
    "export",
    "merge",
    "sim",
    "testing",
    "experiments",
    "cli",
    "pmpi",
    "python",
    "capi",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The dependencies of each crate of the workspace, those of its tests aside.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]);
    let output = cargo.current_dir(crates()).output().unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let all = package["dependencies"].as_array().unwrap().iter();
            (
                name(package),
                all.filter(|it| it["kind"].is_null()).map(name).collect(),
            )
        })
        .collect()
}

#[test]
fn crates_depend_downwards() {
    let all = dependencies();
    let allowed: BTreeMap<&str, &[&str]> = CRATES.into();
    assert_eq!(all.keys().map(String::as_str).collect::<Vec<_>>(), {
        allowed.keys().copied().collect::<Vec<_>>()
    });
    for (name, needs) in &all {
        let own = needs
            .iter()
            .map(String::as_str)
            .filter(|it| all.contains_key(*it));
        assert_eq!(own.collect::<Vec<_>>(), allowed[name.as_str()], "{name}");
    }
    // Tests may use it, and nobody else.
    for (name, needs) in &all {
        assert!(!needs.contains("retime-testing"), "{name}");
    }
    let model = all["retime-model"].iter().map(String::as_str);
    assert_eq!(model.collect::<Vec<_>>(), MODEL_NEEDS);
}

/// Numerics that know no traces: of the model they take what interrupts long work.
#[test]
fn numerics_know_no_traces() {
    let may = ["pace::Pace", "Monitor", "{Cancelled, Monitor}"];
    for file in sources(&crates().join("numerics/src")) {
        let code = code(&file);
        for (at, prefix) in code.match_indices("retime_model::") {
            let rest = &code[at + prefix.len()..];
            let fits = may.iter().any(|it| rest.starts_with(it));
            assert!(fits, "{}: {}", file.display(), rest.lines().next().unwrap());
        }
    }
}

/// All source files below a directory.
fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
    found
}

/// The code of a file, without comments and without its tests, which may use all.
fn code(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let marks = text.match_indices("#[cfg(test)]\n");
    let marks = marks.chain(text.match_indices("#[cfg(all(test, "));
    // Tests in a file of their own are declared before the code.
    let is_block = |&(at, _): &(usize, &str)| {
        let mut lines = text[at..].lines().skip(1);
        let item = lines.find(|line| !line.starts_with('#'));
        item.is_some_and(|line| line.contains("mod ") && line.ends_with('{'))
    };
    let end = marks.filter(is_block).map(|mark| mark.0).min();
    let lines = text[..end.unwrap_or(text.len())]
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The modules at the root of a crate that a piece of its code names.
fn named(code: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            // Of a nested list the outermost words are the modules.
            Some(list) => {
                let (mut depth, mut start) = (0, true);
                for (at, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        c if start && c.is_alphabetic() => {
                            found.push(word(&list[at..]));
                            start = false;
                        }
                        _ => {}
                    }
                }
            }
            None => found.push(word(rest)),
        }
    }
    found
}

/// Of each module at the root of a crate, the others that it uses.
fn modules(source: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut modules: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in sources(source) {
        let inside = file.strip_prefix(source).unwrap();
        let first = inside.iter().next().unwrap().to_str().unwrap();
        let module = first.trim_end_matches(".rs").to_owned();
        if !["lib", "main"].contains(&module.as_str()) {
            modules
                .entry(module)
                .or_default()
                .extend(named(&code(&file)));
        }
    }
    let known: BTreeSet<String> = modules.keys().cloned().collect();
    for (module, uses) in &mut modules {
        uses.retain(|it| it != module && known.contains(it));
    }
    modules
}

/// The modules that are left when those that use none that is left are taken away:
/// all that lie on a cycle, and what uses these.
fn in_cycles(
    mut modules: BTreeMap<String, BTreeSet<String>>,
) -> BTreeMap<String, BTreeSet<String>> {
    loop {
        let left: BTreeSet<String> = modules.keys().cloned().collect();
        modules.retain(|_, uses| uses.iter().any(|it| left.contains(it)));
        if modules.len() == left.len() {
            return modules;
        }
    }
}

#[test]
fn modules_depend_downwards() {
    for name in LAYERED {
        let modules = modules(&crates().join(name).join("src"));
        assert!(modules.len() > 1, "{name}: {modules:?}");
        let cycles = in_cycles(modules);
        assert!(
            cycles.is_empty(),
            "modules of {name} use each other in a circle: {cycles:#?}"
        );
    }
}

/// By crate of the workspace and beside it, where its files lie.
fn source_directories() -> BTreeMap<String, PathBuf> {
    let names = { CRATES.iter() }.map(|(name, _)| name.trim_start_matches("retime-"));
    let beside = ["mpi", "pmpi", "python", "capi"];
    let all = names.chain(beside).map(|name| {
        let directory = match name {
            "fuzz" => "../fuzz",
            directory => directory,
        };
        (name.to_owned(), crates().join(directory).join("src"))
    });
    all.collect()
}

#[test]
fn files_use_each_other_in_no_circle() {
    let mut found = BTreeMap::new();
    for (name, source) in source_directories() {
        let files = sources(&source).into_iter().map(|file| {
            let inside = file.strip_prefix(&source).unwrap();
            (inside.to_str().unwrap().to_owned(), code(&file))
        });
        let uses = uses::Files::new(files).uses();
        let circles = circles::circles(&uses);
        if !circles.is_empty() {
            found.insert(name, circles);
        }
    }
    assert!(
        found.is_empty(),
        "files use each other in a circle: {found:#?}"
    );
}

#[test]
fn a_circle_is_seen() {
    let uses = |of: &str| of.split_whitespace().map(str::to_owned).collect();
    let modules = [
        ("a", uses("b")),
        ("b", uses("c")),
        ("c", uses("b")),
        ("d", uses("")),
    ];
    let found = in_cycles(modules.map(|(name, uses)| (name.to_owned(), uses)).into());
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    let code = "use crate::{edges::{Edge, Edges}, hull::lower};\nlet x = crate::median::of(&y);";
    assert_eq!(named(code), ["edges", "hull", "median"]);
}

#[test]
fn formats_are_named_in_one_place() {
    let source = crates().join("cli/src");
    for file in sources(&source) {
        if file.ends_with("formats.rs") {
            continue;
        }
        let code = code(&file);
        assert!(
            !code.contains("retime_otf2"),
            "{} names a format",
            file.display()
        );
        // The parser of lines is that of `retime stream` too.
        let whole = code.contains("JsonLines");
        assert!(!whole, "{} names a format", file.display());
    }
}

/// A method is named where it is implemented and in the table, so that one more is a file and
/// a line.
#[test]
fn methods_are_named_in_one_place() {
    for name in ["cli", "experiments", "picture", "parallel", "python"] {
        for file in sources(&crates().join(name).join("src")) {
            let code = code(&file);
            for types in [
                "Regression;",
                "SpanningTree",
                "MinMax",
                "PseudoSync",
                "MiddleOfBounds",
            ] {
                assert!(!code.contains(types), "{} names a method", file.display());
            }
        }
    }
}

/// In a message a path that is shown as it is could begin another line, or be obeyed by the
/// terminal. Data of a report are another matter.
#[test]
fn paths_are_shown_without_control_characters() {
    let may = [
        "cli/src/commands/compare.rs",
        "cli/src/report/build.rs",
        "cli/src/staging/owner.rs",
        "cli/src/truth.rs",
    ];
    for (name, _) in CRATES {
        let source = crates()
            .join(name.trim_start_matches("retime-"))
            .join("src");
        let files = if source.is_dir() {
            sources(&source)
        } else {
            Vec::new()
        };
        for file in files {
            let data = may.iter().any(|it| file.ends_with(it));
            let shows = code(&file).contains(".display()");
            assert!(data || !shows, "{}: use printable_path", file.display());
        }
    }
}

#[test]
fn unsafe_code_is_forbidden() {
    let manifest = fs::read_to_string(crates().join("../Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"forbid\""), "{manifest}");
    // One file of it is called by C.
    let pmpi = fs::read_to_string(crates().join("pmpi/Cargo.toml")).unwrap();
    assert!(pmpi.contains("unsafe_code = \"deny\""), "{pmpi}");
    for file in sources(&crates().join("pmpi/src")) {
        let code = code(&file);
        let allows = code.contains("unsafe") || code.contains("allow(");
        let may = file.ends_with("border.rs") || file.ends_with("lib.rs");
        assert!(
            may || !allows,
            "{} allows itself what it must not",
            file.display()
        );
    }
    // What pyo3 generates allows itself what nobody else does.
    let python = fs::read_to_string(crates().join("python/Cargo.toml")).unwrap();
    assert!(python.contains("unsafe_code = \"deny\""), "{python}");
    for file in sources(&crates().join("python/src")) {
        let code = code(&file);
        let allows = code.contains("unsafe") || code.contains("allow(");
        assert!(!allows, "{} allows itself what it must not", file.display());
    }
    let border = ["retime-pmpi", "retime-python", "retime-capi"];
    for (name, _) in CRATES {
        if border.contains(&name) {
            continue;
        }
        let directory = match name.trim_start_matches("retime-") {
            "fuzz" => "../fuzz",
            directory => directory,
        };
        let manifest = crates().join(directory).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "{name}");
    }
}
