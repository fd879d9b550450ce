//! A job as one file, document by document.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;

use retime_gzip::{Effort, Output};
use retime_kineto::Member;
use retime_model::Monitor;
use retime_model::format::{Document, DocumentKind, FileError, FormatError};

use crate::ahead::each_prepared;
use crate::carried::{Place, carry};
use crate::chrome::{self, EndPlace};
use crate::chunks::Chunks;
use crate::error::MergeError;
use crate::ids::Ids;
use crate::job::{Arrow, ArrowEnd, Job, Merged, MergedKind, Pointed};
use crate::numbers::Free;
use crate::outline::Outline;
use crate::perfetto::{self, Packets};
use crate::placed::Placed;
use crate::spoken::Spoken;

/// The first sequence of those that files of packets have: above those of locations of other
/// traces, and below 2^31, as readers take larger ones together with their clocks for none.
const FIRST_CARRIED: u64 = 1 << 30;

/// Writes a job as one file, compressed or not.
pub fn merge(
    job: &Job,
    kind: MergedKind,
    effort: Option<Effort>,
    out: &mut (dyn Write + Send),
    monitor: &dyn Monitor,
) -> Result<Merged, MergeError> {
    let mut chunks = Chunks::new(Output::new(out, effort)?);
    let arrows = job.added(kind);
    let mut merged = match kind {
        MergedKind::Chrome => as_chrome(job, &arrows, &mut chunks, monitor)?,
        MergedKind::Perfetto => as_perfetto(job, &arrows, &mut chunks, monitor)?,
    };
    merged.arrows = arrows.len() as u64;
    merged.bytes = chunks.finish()?;
    Ok(merged)
}

fn as_perfetto(
    job: &Job,
    arrows: &[Arrow],
    chunks: &mut Chunks<'_>,
    monitor: &dyn Monitor,
) -> Result<Merged, MergeError> {
    perfetto::open(&mut chunks.current);
    let ends = Pointed::all(arrows);
    let mut merged = Merged::default();
    let mut free = Free {
        pid: 1,
        sequence: FIRST_CARRIED,
        machine: 1,
    };
    // Packets are carried over as they are, after a walk of their own.
    let outlined = |number: u32, document: &Document| match document.kind {
        DocumentKind::Packets => Ok(None),
        DocumentKind::Chrome => Ok(Some(Outline::of(
            document,
            Packets::first_flow(number),
            monitor,
        )?)),
    };
    each_prepared(&job.documents, outlined, |number, document, outline| {
        let own = of_document(&ends, number);
        let Some(mut outline) = outline else {
            let place = Place {
                document,
                number,
                origin: job.origin,
            };
            let carried = carry(&place, &mut free, own, chunks, monitor)?;
            merged.events += carried.events;
            merged.processes += carried.processes;
            return Ok(());
        };
        let survey = std::mem::take(&mut outline.survey);
        let placed = Placed::new(document, number, survey, job.origin, &mut free.pid);
        merged.processes += placed.shown.len() as u64;
        let packets = Packets::new(placed, outline);
        merged.events += packets.write(chunks, own, monitor)?;
        Ok(())
    })?;
    for path in &job.packets {
        let failed = |source| FormatError::from(FileError::io(path, source));
        let mut file = File::open(path).map_err(failed)?;
        while chunks.take(&mut file).map_err(failed)? > 0 {
            monitor.check().map_err(FormatError::from)?;
            chunks.put_if_full()?;
        }
    }
    Ok(merged)
}

fn as_chrome(
    job: &Job,
    arrows: &[Arrow],
    chunks: &mut Chunks<'_>,
    monitor: &dyn Monitor,
) -> Result<Merged, MergeError> {
    chrome::open(&mut chunks.current);
    let mut merged = Merged::default();
    let (mut next, mut is_first) = (1, true);
    let mut places: BTreeMap<(u32, u32), EndPlace> = BTreeMap::new();
    let ends = Pointed::all(arrows);
    let surveyed = |_: u32, document: &Document| {
        let spoken = Spoken::of(document, monitor)?;
        let survey = spoken.survey(monitor)?;
        Ok((spoken, survey))
    };
    each_prepared(&job.documents, surveyed, |number, _, (spoken, survey)| {
        let placed = Placed::new(&spoken.document, number, survey, job.origin, &mut next);
        for (what, count) in spoken.untold() {
            *merged.untold.entry(what).or_default() += count;
        }
        merged.processes += placed.shown.len() as u64;
        chrome::describe(&mut chunks.current, &placed, &mut is_first);
        let mut ids = Ids::of(number);
        spoken.each_event(monitor, &mut |event| {
            merged.events += u64::from(event.text(Member::Ph) != b"M");
            let out = &mut chunks.current;
            chrome::event(out, event, &placed, &mut ids, &mut is_first);
            chunks.put_within_walk();
            Ok(())
        })?;
        chunks.settle()?;
        let own = of_document(&ends, number);
        for track in own.chunk_by(|a, b| a.end.track == b.end.track) {
            let track = track.first().map_or(0, |it| it.end.track);
            let place = EndPlace::of(&placed, track);
            places.extend(place.map(|it| ((number, track), it)));
        }
        Ok(())
    })?;
    let between = Between {
        arrows,
        ends: &ends,
        places: &places,
        origin: job.origin,
    };
    between.write(chunks, &mut is_first)?;
    chrome::close(&mut chunks.current, job.origin);
    Ok(merged)
}

/// The ends that stand in a document, of all in order.
fn of_document(ends: &[Pointed], number: u32) -> &[Pointed] {
    let from = ends.partition_point(|it| it.end.document < number);
    let to = ends.partition_point(|it| it.end.document <= number);
    ends.get(from..to).unwrap_or_default()
}

/// The arrows between documents.
struct Between<'a> {
    arrows: &'a [Arrow],
    ends: &'a [Pointed],
    /// The threads at which ends stand, by document and track.
    places: &'a BTreeMap<(u32, u32), EndPlace>,
    origin: i64,
}

impl Between<'_> {
    /// Writes the ends of all arrows, then the arrows.
    fn write(&self, chunks: &mut Chunks<'_>, is_first: &mut bool) -> Result<(), MergeError> {
        let place = |end: &ArrowEnd| self.places.get(&(end.document, end.track));
        for together in self.ends.chunk_by(|a, b| a.end == b.end) {
            let first = together.first();
            if let Some((first, place)) = first.and_then(|it| Some((it, place(&it.end)?))) {
                chrome::point(&mut chunks.current, first, place, self.origin, is_first);
                chunks.put_if_full()?;
            }
        }
        for (number, arrow) in self.arrows.iter().enumerate() {
            let both = place(&arrow.from).zip(place(&arrow.to));
            let Some((from, to)) = both else {
                continue;
            };
            let is_reversed = arrow.to.at < arrow.from.at;
            let mut order = [(true, from), (false, to)];
            if is_reversed {
                order.reverse();
            }
            for (is_cause, place) in order {
                let out = &mut chunks.current;
                chrome::arrow_end(out, number, arrow, is_cause, place, self.origin);
            }
            chunks.put_if_full()?;
        }
        Ok(())
    }
}
