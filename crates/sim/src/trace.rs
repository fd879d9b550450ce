//! Writes simulated events as a trace.

use std::path::Path;

use retime_otf2::writer::{
    ArchiveSummary, ArchiveWriter, DefinitionsWriter, LocationWriter, WriteOptions,
};

use crate::{
    beside::Beside,
    clock::{Clock, Reader, Timer},
    event::{Event, Sink},
    failure::Result,
    layout::{Layout, Placed},
    region,
};

/// An archive with the locations of a layout, all open.
#[derive(Debug)]
pub(crate) struct TraceWriter {
    archive: ArchiveWriter,
    layout: Layout,
    ranks: Vec<Placed>,
    locations: Vec<LocationWriter>,
}

impl TraceWriter {
    pub(crate) fn create(anchor: &Path, layout: &Layout, options: WriteOptions) -> Result<Self> {
        let mut archive = ArchiveWriter::create(anchor, options)?;
        let ranks = layout.define(archive.definitions());
        region::define(archive.definitions());
        let locations = (0..layout.locations())
            .map(|location| archive.location(layout.id(location)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            archive,
            layout: *layout,
            ranks,
            locations,
        })
    }

    /// Defines and opens what a rank has beside its threads; `None` if there is no such
    /// rank.
    pub(crate) fn beside(&mut self, it: Beside, rank: u32) -> Result<Option<&mut LocationWriter>> {
        let Some(placed) = self.ranks.get(rank as usize) else {
            return Ok(None);
        };
        let id = it.define(self.archive.definitions(), &self.layout, rank, *placed);
        self.locations.push(self.archive.location(id)?);
        Ok(self.locations.last_mut())
    }

    pub(crate) fn definitions(&mut self) -> &mut DefinitionsWriter {
        self.archive.definitions()
    }

    pub(crate) fn location(&mut self, location: usize) -> &mut LocationWriter {
        &mut self.locations[location]
    }

    pub(crate) fn finish(self) -> Result<ArchiveSummary> {
        let summaries = self
            .locations
            .into_iter()
            .map(LocationWriter::finish)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(self.archive.finish(summaries)?)
    }
}

/// Stamps events with the clocks of their processes and writes them.
#[derive(Debug)]
pub(crate) struct StampingWriter {
    trace: TraceWriter,
    layout: Layout,
    /// One for each location.
    clocks: Vec<Reader>,
    timer: Timer,
}

impl StampingWriter {
    /// One clock per rank.
    pub(crate) fn new(trace: TraceWriter, layout: Layout, clocks: &[Clock], timer: Timer) -> Self {
        let reader = |location| clocks[layout.rank_of(location) as usize].reader();
        Self {
            trace,
            clocks: (0..layout.locations()).map(reader).collect(),
            layout,
            timer,
        }
    }

    pub(crate) fn finish(self) -> Result<ArchiveSummary> {
        self.trace.finish()
    }
}

impl Sink for StampingWriter {
    fn event(&mut self, location: usize, time: u64, event: Event) -> Result<()> {
        let rank = self.layout.rank_of(location);
        let ticks = self.timer.stamp(rank, self.clocks[location].show(time))?;
        Ok(event.write(self.trace.location(location), ticks)?)
    }
}
