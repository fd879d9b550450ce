//! Which of the paths that are given are one trace.
//!
//! Files of one job are one trace, in which what they did together says how their clocks
//! differ. A directory of them is one trace too; where several paths are given, the files that
//! lie in directories count like those that are named.

use std::fs;
use std::path::PathBuf;

use retime::format::{Format, Recognition};
use retime::{presence, printable_path};

use crate::error::CliError;
use crate::formats::{self, FormatArgs};

/// A trace among the paths.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RunPaths {
    /// The directory or the first file,
    pub(super) path: PathBuf,
    /// and further files.
    pub(super) others: Vec<PathBuf>,
}

/// Paths of one kind, in the order in which they are named.
struct Group {
    kind: &'static str,
    format: &'static dyn Format,
    paths: Vec<PathBuf>,
}

/// The traces that paths are, in the order in which they are named.
pub(super) fn grouped(paths: &[PathBuf], asked: &FormatArgs) -> Result<Vec<RunPaths>, CliError> {
    let mut groups: Vec<Group> = Vec::new();
    for path in paths {
        let format = formats::of(path, asked.asked())?;
        // Ranks are taken from paths in each kind of profiles, and each kind is a trace.
        let kind = match asked.ranks.asked() {
            Some(_) => formats::of(path, None)?.name(),
            None => format.name(),
        };
        match groups.iter_mut().find(|it| it.kind == kind) {
            Some(group) => group.paths.push(path.clone()),
            None => groups.push(Group {
                kind,
                format,
                paths: vec![path.clone()],
            }),
        }
    }
    let mut runs = Vec::new();
    for Group { format, paths, .. } in groups {
        // No files at all tell whether it takes several.
        let takes_several = format.open_files(&[]).is_some();
        let mut all = if paths.len() > 1 && takes_several {
            vec![files(format, &paths)?]
        } else {
            paths.into_iter().map(|it| vec![it]).collect()
        };
        for files in &mut all {
            let path = files.remove(0);
            runs.push(RunPaths {
                path,
                others: std::mem::take(files),
            });
        }
    }
    Ok(runs)
}

/// The files that are named and those that lie in directories that are.
fn files(format: &dyn Format, paths: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut all = Vec::new();
    for path in paths {
        let failed = |error| CliError::io(path, error);
        if !presence::is_directory(path).map_err(failed)? {
            all.push(path.clone());
            continue;
        }
        let before = all.len();
        for entry in fs::read_dir(path).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if !presence::is_file(&file).map_err(failed)? {
                continue;
            }
            let sure = format
                .recognise(&file)
                .map_err(|it| CliError::io(&file, it))?;
            if sure != Recognition::No {
                all.push(file);
            }
        }
        if all.len() == before {
            return Err(CliError::input(
                path,
                "holds no files of a job itself; name the directory in which they lie",
            ));
        }
        if let Some(own) = all.get_mut(before..) {
            own.sort();
        }
    }
    let mut sorted: Vec<&PathBuf> = all.iter().collect();
    sorted.sort();
    if let Some(twice) = sorted.windows(2).find(|it| it[0] == it[1]) {
        let message = format!("{} is named twice", printable_path(twice[0]));
        return Err(CliError::Usage(message));
    }
    Ok(all)
}
