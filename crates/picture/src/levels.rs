//! All calls of the lanes, so that any stretch of time can be drawn at once.
//!
//! ```text
//! calls     as they are left, 24 bytes each, in blocks of 4096 in a temporary file
//! blocks    when the first of each begins and the last ends
//! long      the calls that reach from one block into another, in memory: at most as
//!           many for each block as calls are nested
//! buckets   what was done most of the time, in 2^17 buckets of the lane's time
//! ```
//!
//! A stretch with few blocks is drawn call by call: those of its blocks, and the long
//! ones. A longer one is drawn by buckets, each power of two of them that fall on one
//! pixel as one: that which most of them show.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

use retime::{ClockMap, LocationIndex, Ticks, Timestamp};

use crate::call::{Call, Moment};
use crate::regions::Regions;
use crate::slices::{Collector, LaneSlices};
use crate::strip::{Buckets, Strip};
use crate::{Lane, Place, Subject};

/// Calls of a block.
const BLOCK: usize = 4096;
/// Bytes of a call in the file.
const BYTES: usize = 24;
/// Buckets of a lane, if it is long enough.
const BUCKETS: usize = 1 << 17;
/// So many buckets are drawn: some for each pixel of a wide screen.
const DRAWN: usize = 4096;
/// So many calls of a lane are looked at one by one.
const LOOKED_AT: usize = 1 << 15;

/// The calls of one lane.
pub(crate) struct Levels {
    file: Mutex<File>,
    blocks: Vec<Block>,
    long: Vec<Call>,
    buckets: Buckets,
}

/// Calls in a row, by recorded times.
struct Block {
    first: i64,
    last: i64,
    /// How many are in the file.
    count: usize,
}

/// Levels while events are read.
pub(crate) struct Builder {
    file: File,
    blocks: Vec<Block>,
    /// Calls that were left since the last block.
    waiting: Vec<Call>,
    /// When the block that is filled begins.
    since: i64,
    long: Vec<Call>,
    buckets: Buckets,
}

impl Builder {
    /// For a lane that is there from one time to another.
    pub(crate) fn new(file: File, from: i64, to: i64) -> Self {
        Self {
            file,
            blocks: Vec::new(),
            waiting: Vec::with_capacity(BLOCK),
            since: from,
            long: Vec::new(),
            buckets: Buckets::of_count(from, to, BUCKETS),
        }
    }

    /// Takes up what a lane did for a while.
    pub(crate) fn add(&mut self, from: i64, to: i64, region: u32) {
        self.buckets.add(from, to, region);
    }

    /// Takes up a call that is left.
    pub(crate) fn left(&mut self, call: Call) -> io::Result<()> {
        if call.begin.recorded < self.since {
            self.long.push(call);
            return Ok(());
        }
        self.waiting.push(call);
        if self.waiting.len() == BLOCK {
            self.write(call.end.recorded)?;
        }
        Ok(())
    }

    fn write(&mut self, now: i64) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(self.waiting.len() * BYTES);
        for call in &self.waiting {
            bytes.extend(call.begin.recorded.to_le_bytes());
            bytes.extend(call.end.recorded.to_le_bytes());
            bytes.extend(call.region.to_le_bytes());
            bytes.extend(u32::from(call.depth).to_le_bytes());
        }
        self.file.write_all(&bytes)?;
        self.blocks.push(Block {
            first: self.since,
            last: now,
            count: self.waiting.len(),
        });
        self.waiting.clear();
        self.since = now;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> io::Result<Levels> {
        if let Some(last) = self.waiting.last() {
            self.write(last.end.recorded)?;
        }
        Ok(Levels {
            file: Mutex::new(self.file),
            blocks: self.blocks,
            long: self.long,
            buckets: self.buckets.filled(),
        })
    }
}

/// A stretch of a lane: its calls, or what it did most of the time.
pub(crate) enum Stretch {
    Calls(LaneSlices),
    Strip(Strip),
}

impl Levels {
    /// The calls of a stretch, or if these are too many, what was done most of the time.
    pub(crate) fn draw(
        &self,
        place: &Place,
        lane: &Lane,
        most: usize,
        subject: &Subject<'_>,
        regions: &Regions,
    ) -> io::Result<Stretch> {
        let clock = LaneClock::of(lane.location, subject);
        let inside = |first: i64, last: i64| {
            let meets = |first: i64, last: i64| first <= place.to && last >= place.from;
            meets(first, last) || meets(clock.corrected(first), clock.corrected(last))
        };
        let met: Vec<usize> = (0..self.blocks.len())
            .filter(|&it| inside(self.blocks[it].first, self.blocks[it].last))
            .collect();
        let count: usize = met.iter().map(|&it| self.blocks[it].count).sum();
        if count > LOOKED_AT {
            return Ok(Stretch::Strip(self.strip(&inside, regions)));
        }
        let mut collector = Collector::new(place, most);
        for &call in &self.long {
            collector.offer(call);
        }
        for block in met {
            for (begin, end, region, depth) in self.read(block)? {
                let moment = |recorded: i64| Moment {
                    recorded,
                    added: clock.corrected(recorded) - recorded,
                };
                collector.offer(Call {
                    region,
                    begin: moment(begin),
                    end: moment(end),
                    depth,
                });
            }
        }
        Ok(Stretch::Calls(collector.slices(regions)))
    }

    /// The calls of a block: begin, end, region, depth.
    fn read(&self, block: usize) -> io::Result<Vec<(i64, i64, u32, u16)>> {
        // All blocks but the last are full.
        let mut bytes = vec![0; self.blocks[block].count * BYTES];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start((block * BLOCK * BYTES) as u64))?;
        file.read_exact(&mut bytes)?;
        let (calls, _) = bytes.as_chunks::<BYTES>();
        let call = |it: &[u8; BYTES]| {
            let [begin, end] = [0, 8].map(|at| {
                let (number, _) = it[at..].as_chunks::<8>();
                i64::from_le_bytes(number[0])
            });
            let [region, depth] = [16, 20].map(|at| {
                let (number, _) = it[at..].as_chunks::<4>();
                u32::from_le_bytes(number[0])
            });
            (begin, end, region, depth as u16)
        };
        Ok(calls.iter().map(call).collect())
    }

    /// The buckets of a stretch.
    fn strip(&self, inside: &impl Fn(i64, i64) -> bool, regions: &Regions) -> Strip {
        let (first, last) = self.buckets.met(inside);
        self.buckets.part(first, last, DRAWN, regions)
    }
}

/// From recorded to corrected times of a location.
struct LaneClock<'a> {
    subject: &'a Subject<'a>,
    map: Option<&'a ClockMap>,
    location: LocationIndex,
}

impl<'a> LaneClock<'a> {
    fn of(location: LocationIndex, subject: &'a Subject<'a>) -> Self {
        let map = subject.corrected.map(|it| it.correction.map_of(location));
        Self {
            subject,
            map,
            location,
        }
    }

    /// The corrected time of a recorded one.
    fn corrected(&self, recorded: i64) -> i64 {
        let nodes = self.subject.nodes();
        let corrected = |map: &ClockMap| -> Option<Timestamp> {
            let raw = nodes.absolute(Ticks(recorded))?;
            map.cursor(self.location).map_time(raw)
        };
        let corrected = self.map.and_then(corrected);
        corrected.map_or(recorded, |it| nodes.relative(it).0)
    }
}
