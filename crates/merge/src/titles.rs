//! The names of processes: whose they are, what they are, and where they ran.
//!
//! ```text
//! rank 3: python3 59814 CPU (host07; tp 1, dp 0)
//! rank 3: GPU 3 (host07; tp 1, dp 0)
//! ```

use retime_model::format::{Document, DocumentKind};

use crate::roles::roles;
use crate::survey::ProcessSeen;

/// The name of a process of a document.
pub(crate) fn title(document: &Document, process: &ProcessSeen) -> String {
    title_on(document, process, None)
}

/// The name of a process on a machine, of which there are several in the document.
pub(crate) fn title_on(document: &Document, process: &ProcessSeen, machine: Option<u32>) -> String {
    let owner = owner(document);
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
    places.extend(document.host.clone());
    places.extend(machine.map(|it| format!("machine {it}")));
    let roles = roles(&document.groups);
    if !roles.is_empty() {
        places.push(roles.join(", "));
    }
    if places.is_empty() {
        format!("{owner}: {what}")
    } else {
        format!("{owner}: {what} ({})", places.join("; "))
    }
}

/// The one whose a document is: a rank, or the name of the file.
pub(crate) fn owner(document: &Document) -> String {
    match document.rank {
        Some(rank) => format!("rank {rank}"),
        None => stem(document),
    }
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
