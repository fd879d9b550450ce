//! The manifest of an archive: how the times of its files relate, in Perfetto's words.
//!
//! A document in Chrome's format has no clock that readers know, so its times are on a line of
//! its own, from the `ts` of its events alone: `baseTimeNanoseconds` does not count there. A
//! manifest pins that line to the line of another file by one number:
//!
//! ```text
//! time there = ts + offset_ns        offset_ns = (base + correction) - (least of these)
//! ```
//!
//! The file with the least of these is the reference, so that no offset is negative, and none
//! of its events comes before the beginning of the merged time line, where readers drop it.
//! What the correction adds is a constant here. Where files were corrected it is nothing, and
//! only differing bases are left.
//!
//! Source: <https://perfetto.dev/docs/reference/perfetto-manifest> (version 1).

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

/// The longest name of a member that readers take, in bytes.
pub const LONGEST_NAME: usize = 99;

/// The name of the manifest in an archive.
pub const MANIFEST: &str = "perfetto_manifest.json";

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name of the member in the archive.
    pub name: String,
    /// The host whose processes it shows.
    pub host: Option<String>,
    /// The nanosecond at which a `ts` of 0 stands on the common time line.
    pub zero: i64,
}

#[derive(Serialize)]
struct Document<'a> {
    perfetto_manifest: Manifest<'a>,
}

#[derive(Serialize)]
struct Manifest<'a> {
    version: u32,
    files: Vec<File<'a>>,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<Machine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clocks: Option<Clocks<'a>>,
}

#[derive(Serialize)]
struct Machine<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Clocks<'a> {
    sync_to: Reference<'a>,
    offset_ns: i64,
}

#[derive(Serialize)]
struct Reference<'a> {
    file: &'a str,
}

/// The text of a manifest.
///
/// ```
/// use retime_merge::{Member, manifest};
///
/// let member = |name: &str, zero| Member { name: name.into(), host: None, zero };
/// let text = manifest(&[member("rank0.json", 1_000), member("rank1.json", 700)]);
/// let found: serde_json::Value = serde_json::from_str(&text)?;
/// let clocks = &found["perfetto_manifest"]["files"][0]["clocks"];
/// assert_eq!(clocks["sync_to"]["file"], "rank1.json");
/// assert_eq!(clocks["offset_ns"], 300);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn manifest(members: &[Member]) -> String {
    let reference = members.iter().min_by_key(|it| it.zero);
    let files = members.iter().map(|member| {
        let host = member.host.as_deref().filter(|it| !it.is_empty());
        let to = reference.filter(|it| it.name != member.name);
        File {
            path: &member.name,
            machine: host.map(|name| Machine { name }),
            clocks: to.map(|to| Clocks {
                sync_to: Reference { file: &to.name },
                offset_ns: member.zero.saturating_sub(to.zero),
            }),
        }
    });
    let document = Document {
        perfetto_manifest: Manifest {
            version: 1,
            files: files.collect(),
        },
    };
    // Text and whole numbers can always be written.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    format!("{text}\n")
}

/// Names for the members of an archive, in the order of their files: as these are called, but
/// none twice, none too long, and without `.gz`, since members are plain.
pub fn member_names<'a>(files: impl Iterator<Item = &'a Path>) -> Vec<String> {
    let mut taken = BTreeSet::from([MANIFEST.to_owned()]);
    let named = files.map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let stem = name.strip_suffix(".json").unwrap_or(name);
        let mut found = shortened(stem, "");
        let mut number = 1;
        while !taken.insert(found.clone()) {
            number += 1;
            found = shortened(stem, &format!("_{number}"));
        }
        found
    });
    named.collect()
}

/// A name that is not too long, of the end of the stem, which is where profilers say the rank.
fn shortened(stem: &str, suffix: &str) -> String {
    let room = LONGEST_NAME - suffix.len() - ".json".len();
    let mut from = stem.len().saturating_sub(room);
    while !stem.is_char_boundary(from) {
        from += 1;
    }
    format!("{}{suffix}.json", stem.get(from..).unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_none_comes_twice() {
        let long = format!("{}é{}rank7.json.gz", "x".repeat(30), "y".repeat(90));
        let files = [
            "a/rank0.json",
            "b/rank0.json.gz",
            &long,
            "perfetto_manifest.json",
        ];
        let names = member_names(files.iter().map(Path::new));
        assert_eq!(names[..2], ["rank0.json", "rank0_2.json"]);
        assert!(names[2].ends_with("yrank7.json"));
        assert_eq!(names[3], "perfetto_manifest_2.json");
        assert!(names.iter().all(|it| it.len() <= LONGEST_NAME));
    }

    #[test]
    fn it_begins_as_readers_tell_it() {
        let member = Member {
            name: "a.json".into(),
            host: Some("node1".into()),
            zero: -5,
        };
        let text = manifest(&[member]);
        let dense: String = text.split_whitespace().collect();
        assert!(dense.starts_with("{\"perfetto_manifest\""));
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        let file = &found["perfetto_manifest"]["files"][0];
        assert_eq!(file["machine"]["name"], "node1");
        assert!(file.get("clocks").is_none());
    }
}
