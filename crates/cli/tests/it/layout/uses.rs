//! Which files of a crate use which others of it.
//!
//! A path in the code of a file, `crate::a::B`, `super::B`, `self::a::b()` or, of a module
//! that the file declares, `a::B`, is followed to the file that defines what it names:
//!
//! ```text
//! use crate::edges::Edge;     edges/mod.rs says `pub use list::Edge;`
//!                             so the user depends on edges/list.rs
//! ```
//!
//! A file that only passes a name on does not depend on where it comes from, as nothing in
//! it needs to be known to understand it; nor does a parent that declares a module. Methods
//! are not followed: code that calls one has named its type, or was given it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module, by the names on the way from the root of its crate.
type Module = Vec<String>;

/// What a name stands for that a file passes on: the module, and what it is called there.
type Origin = (Module, Option<String>);

/// The files of a crate.
#[derive(Default)]
pub(super) struct Files {
    code: BTreeMap<Module, String>,
    /// Items by the file that defines them.
    items: BTreeMap<Module, BTreeSet<String>>,
    /// Names that a file passes on, and modules of which it passes on all.
    passed: BTreeMap<Module, BTreeMap<String, Origin>>,
    globs: BTreeMap<Module, Vec<Module>>,
}

impl Files {
    /// The files of a crate: by their paths below its source directory, their code, without
    /// comments and tests.
    pub(super) fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut all = Self::default();
        for (path, code) in files {
            let module = module(&path);
            all.items.insert(module.clone(), items(&code));
            all.code.insert(module, code);
        }
        let found: Vec<_> = { all.code.iter() }
            .flat_map(|(file, code)| names(file, code).into_iter().map(move |it| (file, it)))
            .filter(|(_, it)| it.is_passed_on)
            .filter_map(|(file, it)| Some((file.clone(), it.clone(), all.walk(&it)?)))
            .collect();
        for (file, name, (target, rest)) in found {
            match rest.first().map(String::as_str) {
                Some("*") => all.globs.entry(file).or_default().push(target),
                first => {
                    let origin = (target, first.map(str::to_owned));
                    let passed = all.passed.entry(file).or_default();
                    passed.insert(name.called, origin);
                }
            }
        }
        all
    }

    /// By file the others that it uses, by their paths without `.rs`.
    pub(super) fn uses(&self) -> BTreeMap<String, BTreeSet<String>> {
        let of = |(file, code): (&Module, &String)| {
            let names = names(file, code).into_iter().filter(|it| !it.is_passed_on);
            let targets = names.filter_map(|it| self.file(&it));
            let others = targets.filter(|it| it != file).map(|it| shown(&it));
            (shown(file), others.collect())
        };
        self.code.iter().map(of).collect()
    }

    /// The file that defines what a path names.
    fn file(&self, name: &Name) -> Option<Module> {
        let (module, rest) = self.walk(name)?;
        Some(match rest.first() {
            Some(first) if first != "*" => self.defined(&module, first, 0),
            _ => module,
        })
    }

    /// Goes down a path as far as there are files.
    fn walk(&self, name: &Name) -> Option<(Module, Vec<String>)> {
        let mut parts = name.path.iter().map(String::as_str).peekable();
        let mut module = match *parts.peek()? {
            "crate" => {
                parts.next();
                Module::new()
            }
            "super" | "self" => name.base.clone(),
            // Of other paths only those of own modules.
            first => {
                let child = with(&name.base, first);
                self.code.contains_key(&child).then(|| name.base.clone())?
            }
        };
        while let Some(&part @ ("super" | "self")) = parts.peek() {
            if part == "super" {
                module.pop();
            }
            parts.next();
        }
        while let Some(part) = parts.peek() {
            let child = with(&module, part);
            if !self.code.contains_key(&child) {
                break;
            }
            module = child;
            parts.next();
        }
        // A module inside of a file belongs to the file.
        while !self.code.contains_key(&module) {
            module.pop()?;
        }
        Some((module, parts.map(str::to_owned).collect()))
    }

    /// The file that defines what another one calls by a name.
    fn defined(&self, file: &Module, name: &str, depth: usize) -> Module {
        let is_own = self.items.get(file).is_some_and(|own| own.contains(name));
        if is_own || depth > 8 {
            return file.clone();
        }
        match self.passed.get(file).and_then(|passed| passed.get(name)) {
            Some((module, Some(name))) => return self.defined(module, name, depth + 1),
            Some((module, None)) => return module.clone(),
            None => {}
        }
        let globs = self.globs.get(file).into_iter().flatten();
        let has = |it: &&Module| self.items.get(*it).is_some_and(|own| own.contains(name));
        globs.into_iter().find(has).unwrap_or(file).clone()
    }
}

/// The module of a file.
fn module(path: &str) -> Module {
    let path = Path::new(path).with_extension("");
    let mut parts: Module = { path.iter() }
        .map(|it| it.to_string_lossy().into_owned())
        .collect();
    let is_root = parts.len() == 1 && ["lib", "main"].contains(&parts[0].as_str());
    if is_root || parts.last().is_some_and(|it| it == "mod") {
        parts.pop();
    }
    parts
}

fn shown(module: &Module) -> String {
    match module.join("/") {
        root if root.is_empty() => "lib".into(),
        path => path,
    }
}

fn with(module: &Module, child: &str) -> Module {
    let mut module = module.clone();
    module.push(child.to_owned());
    module
}

/// The items that a file defines, modules aside.
fn items(code: &str) -> BTreeSet<String> {
    let kinds = [
        "fn", "struct", "enum", "trait", "type", "const", "static", "union",
    ];
    let item = |line: &str| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        // Past the visibility, `const fn` and the like.
        while let Some(word) = words.next() {
            if kinds.contains(&word) {
                let name = words.find(|it| !it.is_empty() && !kinds.contains(it));
                return name.map(str::to_owned);
            }
            let may_stand_before = ["pub", "crate", "super", "in", "self", "unsafe", "async", ""];
            if !may_stand_before.contains(&word) {
                return None;
            }
        }
        None
    };
    code.lines().filter_map(item).collect()
}

/// A path that stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Name {
    /// The module in which it stands, which may be one inside of the file.
    base: Module,
    path: Vec<String>,
    /// What the file calls it.
    called: String,
    /// Others can name it by this file.
    is_passed_on: bool,
}

/// All paths in the code of a file.
fn names(file: &Module, code: &str) -> Vec<Name> {
    let mut found = Vec::new();
    let mut inside: Vec<(usize, String)> = Vec::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let text = line.trim_start();
        // Who may see an item is no use of what may.
        let text = match text.strip_prefix("pub(in ") {
            Some(rest) => rest.split_once(") ").map_or(rest, |it| it.1),
            None => text,
        };
        let indent = line.len() - line.trim_start().len();
        inside.retain(|(outer, _)| !(text.starts_with('}') && indent == *outer));
        let bare = text
            .trim_start_matches("pub(crate) ")
            .trim_start_matches("pub ");
        if let Some(name) = bare
            .strip_prefix("mod ")
            .and_then(|it| it.strip_suffix(" {"))
        {
            inside.push((indent, name.to_owned()));
            continue;
        }
        let base: Module = { file.iter().cloned() }
            .chain(inside.iter().map(|it| it.1.clone()))
            .collect();
        let (is_use, is_passed_on) = is_use(text);
        if !is_use {
            found.extend(inline(text).into_iter().map(|path| Name {
                base: base.clone(),
                called: path.last().cloned().unwrap_or_default(),
                path,
                is_passed_on: false,
            }));
            continue;
        }
        let mut whole = text.to_owned();
        while !whole.contains(';') {
            let Some(more) = lines.next() else { break };
            whole.push(' ');
            whole.push_str(more.trim());
        }
        let start = whole.find("use ").map_or(0, |at| at + "use ".len());
        let tree = whole[start..].split(';').next().unwrap_or_default();
        for path in expanded(tree) {
            let (path, alias) = path.split_once(" as ").unwrap_or((&path, ""));
            let mut path: Vec<String> = path.split("::").map(|it| it.trim().to_owned()).collect();
            if path.len() > 1 && path.last().is_some_and(|it| it == "self") {
                path.pop();
            }
            let last = path.last().cloned().unwrap_or_default();
            let called = match alias.trim() {
                "" => last,
                alias => alias.to_owned(),
            };
            found.push(Name {
                base: base.clone(),
                path,
                called,
                is_passed_on,
            });
        }
    }
    found
}

/// Whether a line begins a `use`, and whether that passes names on.
fn is_use(line: &str) -> (bool, bool) {
    if line.starts_with("use ") {
        return (true, false);
    }
    let passes = line.starts_with("pub") && {
        let rest = line.trim_start_matches("pub");
        let rest = match rest.strip_prefix('(') {
            Some(inside) => inside.split_once(')').map_or("", |it| it.1),
            None => rest,
        };
        rest.starts_with(" use ")
    };
    (passes, passes)
}

/// The paths of a tree of a `use`.
fn expanded(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let (Some(open), true) = (tree.find('{'), tree.ends_with('}')) else {
        return vec![tree.to_owned()];
    };
    let (before, list) = (&tree[..open], &tree[open + 1..tree.len() - 1]);
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    let parts = parts.into_iter().filter(|it| !it.trim().is_empty());
    let whole = parts.flat_map(expanded);
    whole.map(|it| format!("{before}{it}")).collect()
}

/// The paths of a line that is no `use`.
fn inline(line: &str) -> Vec<Vec<String>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find(is_part) {
        let is_inside = rest[..at].ends_with("::") || rest[..at].ends_with('.');
        let end = |text: &str| text.find(|c| !is_part(c)).unwrap_or(text.len());
        let mut path = Vec::new();
        rest = &rest[at..];
        loop {
            let length = end(rest);
            path.push(rest[..length].to_owned());
            rest = &rest[length..];
            match rest.strip_prefix("::") {
                Some(more) if more.starts_with(is_part) => rest = more,
                _ => break,
            }
        }
        if path.len() > 1 && !is_inside {
            found.push(path);
        }
    }
    found
}

#[test]
fn paths_are_followed_to_the_files_that_define_them() {
    let files = [
        (
            "lib.rs",
            "mod a;\npub use a::A;\nfn x() { a::inner::deep(); }",
        ),
        (
            "a/mod.rs",
            "mod inner;\npub use inner::{B as C, deep};\npub struct A;",
        ),
        (
            "a/inner.rs",
            "use super::A;\nuse crate::b::*;\npub struct B;\npub(super) fn deep() {}",
        ),
        (
            "b.rs",
            "use crate::{\n    A,\n    a::C,\n};\nmod z {\n    use super::Own;\n}\nstruct Own;",
        ),
    ];
    let files = Files::new(files.map(|(path, code)| (path.to_owned(), code.to_owned())));
    let uses = files.uses();
    let of = |file: &str| uses[file].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("lib"), ["a/inner"]);
    assert_eq!(of("a"), [""; 0]);
    assert_eq!(of("a/inner"), ["a", "b"]);
    assert_eq!(of("b"), ["a", "a/inner"]);
}
