//! The files of a run as documents, for whoever puts them together.

use std::collections::BTreeMap;

use retime_model::format::{
    Document, DocumentGroup, DocumentKind, DocumentTrack, DrawnArrow, DrawnEnd, Extent,
};

use crate::header::Header;
use crate::matching::{Joined, Part};
use crate::profile::FileRead;
use crate::run::{AllRead, Run};
use crate::scan::Matched;

/// The files that were read, in the order of locations.
pub(crate) fn of(run: &Run, read: &AllRead, matched: Option<&Matched>) -> Vec<Document> {
    let hosts = matched.map(|it| it.hosts(&read.files, &read.places));
    let host = |file| hosts.as_ref()?.of_file(file).map(str::to_owned);
    let says_host = run.document.kind() == DocumentKind::Chrome;
    let files = run.files.paths().iter().zip(&read.files);
    let documents = files.enumerate().map(|(number, (path, file))| Document {
        kind: run.document.kind(),
        path: path.clone(),
        base: file.header.base,
        extent: extent(file),
        rank: file.header.rank,
        said: file.header.said().filter(|_| says_host),
        // Files of packets do not say it, and are told apart by their names.
        host: host(number).filter(|_| says_host),
        groups: groups(&file.header),
        tracks: file.tracks.iter().map(track).collect(),
        first: read.places.location(number, 0),
        drawn: matched.map_or_else(Vec::new, |it| drawn(file, it.arrows(number))),
    });
    documents.collect()
}

fn track(track: &crate::profile::Track) -> DocumentTrack {
    DocumentTrack {
        pid: track.pid.clone(),
        tid: track.tid.clone(),
        machine: track.machine.unwrap_or_default(),
        uuid: track.uuid,
    }
}

/// The arrows of a file that begin and end in it, of those that do either.
fn drawn(file: &FileRead, arrows: &[Joined]) -> Vec<DrawnArrow> {
    let end = |event: u32, time: u64| DrawnEnd {
        track: file.columns.track(event),
        at: time.wrapping_sub(file.origin) as i64,
    };
    let begins = arrows.iter().filter_map(|it| {
        let number = match it.part {
            Part::Send(id) => id.number,
            Part::Collective {
                id, cause: Some(_), ..
            } => id.number,
            _ => return None,
        };
        Some((number, end(it.event, file.columns.begin(it.event))))
    });
    let begins: BTreeMap<u64, DrawnEnd> = begins.collect();
    let ends = arrows.iter().filter_map(|it| {
        let number = match it.part {
            Part::Receive(id) => id.number,
            Part::Collective {
                id,
                effect: Some(_),
                ..
            } => id.number,
            _ => return None,
        };
        Some(DrawnArrow {
            from: *begins.get(&number)?,
            to: end(it.event, file.columns.end(it.event)),
        })
    });
    let mut drawn: Vec<DrawnArrow> = ends.collect();
    drawn.sort_unstable();
    drawn
}

/// The stretch from the earliest to the latest time of the events on tracks.
fn extent(file: &FileRead) -> Option<Extent> {
    let told = |time: u64| time.wrapping_sub(file.origin) as i64;
    let (first, last) = file.extent()?;
    Some(Extent {
        first: told(first),
        last: told(last),
    })
}

/// The groups in which the place of the rank is known.
fn groups(header: &Header) -> Vec<DocumentGroup> {
    let groups = header.purposes.iter().filter_map(|group| {
        let place = group.ranks.iter().position(|it| Some(*it) == header.rank)?;
        Some(DocumentGroup {
            name: group.name.clone(),
            place: place as u32,
            size: group.ranks.len() as u32,
        })
    });
    groups.collect()
}
