//! The names of processes: whose they are, what they are, and where they ran.
//!
//! ```text
//! rank 3: python3 59814 CPU (host07; tp 1, dp 0)
//! rank 3: GPU 3 (host07; tp 1, dp 0)
//! ```

use retime_model::format::{Document, DocumentGroup, DocumentKind, DocumentRank, DocumentTrack};

use crate::roles::roles;
use crate::survey::ProcessSeen;

/// The name of a process of a document; one that says whose it is keeps its own.
pub(crate) fn title(document: &Document, process: &ProcessSeen) -> String {
    title_on(document, process, None)
}

/// The name of a process on a machine, where machines number theirs.
pub(crate) fn title_on(document: &Document, process: &ProcessSeen, machine: Option<u32>) -> String {
    let owner = Owner::of_process(document, process, machine);
    let named = process.name.as_ref().filter(|it| owner.is_said_by(it));
    if let Some(name) = named {
        return name.clone();
    }
    let labels = process.labels.as_deref().filter(|it| !it.is_empty());
    let is_number = process.pid.parse::<i64>().is_ok();
    // Devices are numbered from 0, and a label says that it is one.
    let what = match (&process.name, labels) {
        (_, Some(label)) if label.starts_with("GPU") => label.to_owned(),
        (Some(name), Some(label)) => format!("{name} {} {label}", process.pid),
        (Some(name), None) if is_number => format!("{name} {}", process.pid),
        (Some(name), None) => name.clone(),
        (None, Some(label)) => label.to_owned(),
        (None, None) if is_number => format!("process {}", process.pid),
        (None, None) => process.pid.clone(),
    };
    let mut places = Vec::new();
    places.extend(owner.host.map(str::to_owned));
    let machine = machine.filter(|it| *it != 0);
    places.extend(machine.map(|it| format!("machine {it}")));
    let roles = roles(owner.groups);
    if !roles.is_empty() {
        places.push(roles.join(", "));
    }
    let name = owner.name;
    if places.is_empty() {
        format!("{name}: {what}")
    } else {
        format!("{name}: {what} ({})", places.join("; "))
    }
}

/// The one whose something in a document is.
pub(crate) struct Owner<'a> {
    /// A rank, or the name of the file.
    pub(crate) name: String,
    pub(crate) is_rank: bool,
    host: Option<&'a str>,
    groups: &'a [DocumentGroup],
    /// The statements of job and host, as JSON.
    pub(crate) said: Option<&'a str>,
}

impl<'a> Owner<'a> {
    /// The owner of all that a document does not give to one of its ranks.
    pub(crate) fn of(document: &'a Document) -> Self {
        Self {
            name: match document.rank {
                Some(rank) => format!("rank {rank}"),
                None => stem(document),
            },
            is_rank: document.rank.is_some(),
            host: document.host.as_deref(),
            groups: &document.groups,
            said: document.said.as_deref(),
        }
    }

    /// The owner of a process, on this machine where machines number theirs.
    pub(crate) fn of_process(
        document: &'a Document,
        process: &ProcessSeen,
        machine: Option<u32>,
    ) -> Self {
        let is_of_it = |it: &&DocumentTrack| {
            it.pid == process.pid && machine.is_none_or(|machine| machine == it.machine)
        };
        let track = document.tracks.iter().find(is_of_it);
        // A process without events has a name at most.
        let by_name = || Self::of_name(document, process.name.as_deref()?);
        let by_track = track.and_then(|it| Self::of_rank(document, it.rank));
        by_track
            .or_else(by_name)
            .unwrap_or_else(|| Self::of(document))
    }

    /// The owner of a track of a document.
    pub(crate) fn of_track(document: &'a Document, track: u32) -> Self {
        let track = document.tracks.get(track as usize);
        let rank = track.and_then(|it| Self::of_rank(document, it.rank));
        rank.unwrap_or_else(|| Self::of(document))
    }

    /// The rank of a document that a name begins with.
    fn of_name(document: &'a Document, name: &str) -> Option<Self> {
        let ranks = (0..document.ranks.len() as u32).map(Some);
        let mut ranks = ranks.filter_map(|it| Self::of_rank(document, it));
        ranks.find(|it| it.is_said_by(name))
    }

    fn of_rank(document: &'a Document, rank: Option<u32>) -> Option<Self> {
        let DocumentRank {
            label,
            said,
            host,
            groups,
        } = document.ranks.get(rank? as usize)?;
        Some(Self {
            name: format!("rank {label}"),
            is_rank: true,
            host: host.as_deref(),
            groups,
            said: said.as_deref(),
        })
    }

    /// True if a name begins with the rank.
    fn is_said_by(&self, name: &str) -> bool {
        let rest = name.strip_prefix(&*self.name);
        self.name.starts_with("rank ") && rest.is_some_and(|it| it.starts_with(": "))
    }
}

/// A name that says whose it is: that of one of the ranks of a document, as it is, or behind the
/// one of the document.
pub(crate) fn owned(document: &Document, name: &[u8]) -> Vec<u8> {
    let own = Owner::of(document);
    let text = String::from_utf8_lossy(name);
    if own.is_said_by(&text) || Owner::of_name(document, &text).is_some() {
        return name.to_vec();
    }
    [own.name.as_bytes(), b": ", name].concat()
}

/// The name of a document that has no rank.
fn stem(document: &Document) -> String {
    let name = document.path.file_name().unwrap_or_default();
    let name = name.to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = endings(document.kind)
        .iter()
        .find_map(|it| name.strip_suffix(it));
    stem.unwrap_or(name).to_owned()
}

/// The endings of names of such documents, the most usual first.
pub(crate) const fn endings(kind: DocumentKind) -> &'static [&'static str] {
    match kind {
        DocumentKind::Chrome => &[".json"],
        DocumentKind::Packets => &[".pftrace", ".perfetto-trace", ".perfetto_trace", ".pb"],
    }
}
