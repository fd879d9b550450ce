//! The files of a run as documents, for whoever puts them together.

use std::collections::BTreeMap;

use retime_model::LocationIndex;
use retime_model::format::{
    Document, DocumentGroup, DocumentRank, DocumentTrack, DrawnArrow, DrawnEnd, Extent,
};

use crate::header::Header;
use crate::hosts::Hosts;
use crate::matching::{Joined, Part};
use crate::order::Side;
use crate::places::Places;
use crate::profile::{FileRead, Track};
use crate::run::{AllRead, Run};
use crate::scan::Matched;

/// The files that were read, in the order of locations.
pub(crate) fn of(run: &Run, read: &AllRead, matched: Option<&Matched>) -> Vec<Document> {
    let hosts = matched.map(|it| it.hosts(&read.files, &read.places));
    let files = run.files.paths().iter().zip(&read.files);
    let documents = files.enumerate().map(|(number, (path, file))| {
        let seen = Seen {
            number,
            file,
            places: &read.places,
            hosts: hosts.as_ref(),
        };
        let ranks = seen.ranks();
        Document {
            kind: run.document.kind(),
            path: path.clone(),
            base: file.header.base,
            extent: extent(file),
            rank: file.header.rank,
            said: file.header.said(),
            host: seen.host(&file.header, 0),
            groups: groups(&file.header),
            tracks: seen.tracks(&ranks),
            ranks,
            first: read.places.location(number, 0),
            drawn: matched.map_or_else(Vec::new, |it| seen.drawn(it)),
        }
    });
    documents.collect()
}

/// A file among those of a run.
struct Seen<'a> {
    number: usize,
    file: &'a FileRead,
    places: &'a Places,
    hosts: Option<&'a Hosts>,
}

impl Seen<'_> {
    /// The host of a track whose header this is; nothing where a name only stands for it, as files
    /// of packets do not say theirs, and are told apart by their names.
    fn host(&self, header: &Header, track: u32) -> Option<String> {
        header.said_host()?;
        let host = self.hosts?.of_track(self.number, track);
        host.map(str::to_owned)
    }

    /// The ranks of a file of several.
    fn ranks(&self) -> Vec<DocumentRank> {
        if !self.file.is_merged() || self.file.header.rank.is_some() {
            return Vec::new();
        }
        let mut first_of: BTreeMap<&str, u32> = BTreeMap::new();
        for (track, it) in (0..).zip(&self.file.tracks) {
            if let Some(label) = it.label.as_deref() {
                first_of.entry(label).or_insert(track);
            }
        }
        let ranks = first_of.into_iter().map(|(label, track)| {
            let header = self.file.of_ranks.get(label);
            DocumentRank {
                label: label.to_owned(),
                said: header.and_then(Header::said),
                host: header.and_then(|it| self.host(it, track)),
                groups: header.map(groups).unwrap_or_default(),
            }
        });
        ranks.collect()
    }

    fn tracks(&self, ranks: &[DocumentRank]) -> Vec<DocumentTrack> {
        let tracks = (0..).zip(&self.file.tracks);
        let tracks = tracks.map(|(number, it): (u32, &Track)| DocumentTrack {
            pid: it.pid.clone(),
            tid: it.tid.clone(),
            machine: it.machine.unwrap_or_default(),
            uuid: it.uuid,
            process: self.process(number),
            rank: ranks
                .iter()
                .position(|rank| Some(&rank.label) == it.label.as_ref())
                .map(|it| it as u32),
        });
        tracks.collect()
    }

    /// The position of the process that a track is of.
    fn process(&self, track: u32) -> u32 {
        let LocationIndex(location) = self.places.location(self.number, track);
        let location = self.places.info.locations.get(location as usize);
        location.map_or(u32::MAX, |it| it.process as u32)
    }

    /// The arrows that the file draws from one process to another, also those that say what calls
    /// say.
    fn drawn(&self, matched: &Matched) -> Vec<DrawnArrow> {
        let arrows = matched.arrows(self.number);
        let begins = arrows.iter().filter_map(|it| {
            let number = match it.part {
                Part::Send(id) => id.number,
                Part::Collective {
                    id, cause: Some(_), ..
                } => id.number,
                _ => return None,
            };
            Some((number, it.event))
        });
        let begins: BTreeMap<u64, u32> = begins.collect();
        let ends = arrows.iter().filter_map(|it: &Joined| {
            let number = match it.part {
                Part::Receive(id) => id.number,
                Part::Collective {
                    id,
                    effect: Some(_),
                    ..
                } => id.number,
                _ => return None,
            };
            Some((*begins.get(&number)?, it.event))
        });
        let again = matched.said_again(self.number).iter().copied();
        let mut drawn: Vec<DrawnArrow> = ends
            .chain(again)
            .map(|(from, to)| DrawnArrow {
                from: self.end(from, Side::Begin),
                to: self.end(to, Side::End),
            })
            .collect();
        drawn.sort_unstable();
        drawn
    }

    /// The end of an arrow that stands where an event begins or ends.
    fn end(&self, event: u32, side: Side) -> DrawnEnd {
        let columns = &self.file.columns;
        let time = match side {
            Side::End => columns.end(event),
            Side::Begin | Side::Moment => columns.begin(event),
        };
        DrawnEnd {
            process: self.process(columns.track(event)),
            at: time.wrapping_sub(self.file.origin) as i64,
        }
    }
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
