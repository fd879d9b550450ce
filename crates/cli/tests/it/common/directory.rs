//! Directories and their content.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Content of all files below a directory by relative path; `None` for the
/// directories themselves.
pub(crate) type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Everything in a directory.
pub(crate) fn tree(root: &Path) -> Tree {
    fn collect(root: &Path, dir: &Path, found: &mut Tree) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_owned();
            if path.is_dir() {
                found.insert(name, None);
                collect(root, &path, found);
            } else {
                found.insert(name, Some(fs::read(&path).unwrap()));
            }
        }
    }
    let mut found = Tree::new();
    collect(root, root, &mut found);
    found
}

/// Fails if two directories differ, and says where.
#[track_caller]
pub(crate) fn assert_same(a: &Path, b: &Path) {
    assert_same_trees(&tree(a), &tree(b));
}

/// Fails if two trees differ, and says where.
#[track_caller]
pub(crate) fn assert_same_trees(a: &Tree, b: &Tree) {
    let names = |tree: &Tree| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(a), names(b));
    for (name, content) in a {
        let (content, other) = (content.as_deref(), b[name].as_deref());
        if content != other {
            let (a, b) = (content.unwrap_or_default(), other.unwrap_or_default());
            let at = a.iter().zip(b).position(|(a, b)| a != b);
            panic!(
                "{} differs at byte {at:?} (sizes {} and {})",
                name.display(),
                a.len(),
                b.len()
            );
        }
    }
}

/// The names of all entries, hidden ones included, sorted.
pub(crate) fn entries(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Copies a file with its time of modification, which undo data hold.
pub(crate) fn copy_file(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
    let time = fs::metadata(from).unwrap().modified().unwrap();
    let copy = fs::File::options().append(true).open(to).unwrap();
    copy.set_modified(time).unwrap();
}

/// Copies a directory; the target may exist.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for (name, content) in tree(from) {
        match content {
            None => fs::create_dir_all(to.join(name)).unwrap(),
            Some(_) => copy_file(&from.join(&name), &to.join(name)),
        }
    }
}
