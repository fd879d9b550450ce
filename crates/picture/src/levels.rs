//! All calls of the lanes, so that any stretch of time can be drawn at once.
//!
//! ```text
//! calls     as they are left, 32 bytes each, in blocks of 4096, in one temporary file
//! blocks    when the first of each begins and the last ends
//! long      the calls that reach from one block into another, in memory: at most as
//!           many for each block as calls are nested
//! buckets   what was done most of the time, in up to 2^17 buckets of the lane's time
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
const BYTES: usize = 32;
/// Buckets of a lane, if it is long enough,
const BUCKETS: usize = 1 << 17;
/// and of all lanes together.
const BUCKETS_TOGETHER: usize = 1 << 23;
/// So many buckets are drawn: some for each pixel of a wide screen.
const DRAWN: usize = 4096;
/// So many calls of a lane are looked at one by one.
const LOOKED_AT: usize = 1 << 15;

/// The calls of one lane.
pub(crate) struct Levels {
    blocks: Vec<Block>,
    long: Vec<Call>,
    buckets: Buckets,
}

/// Calls in a row, by recorded times.
struct Block {
    first: i64,
    last: i64,
    /// Where they are in the file.
    start: u64,
    /// How many are there.
    count: usize,
}

/// The calls of all lanes, in a file.
pub(crate) struct CallFile(Mutex<CallFileEnd>);

struct CallFileEnd {
    file: File,
    length: u64,
}

impl CallFile {
    pub(crate) fn new(file: File) -> Self {
        Self(Mutex::new(CallFileEnd { file, length: 0 }))
    }

    /// Appends bytes; returns where they are.
    fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let mut end = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = end.length;
        end.file.seek(SeekFrom::Start(start))?;
        end.file.write_all(bytes)?;
        end.length += bytes.len() as u64;
        Ok(start)
    }

    fn read(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        let mut end = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        end.file.seek(SeekFrom::Start(start))?;
        end.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// Levels while events are read.
pub(crate) struct Builder<'a> {
    file: &'a CallFile,
    blocks: Vec<Block>,
    /// Calls that were left since the last block.
    waiting: Vec<Call>,
    /// When the block that is filled begins.
    since: i64,
    long: Vec<Call>,
    buckets: Buckets,
}

impl<'a> Builder<'a> {
    /// For one of so many lanes, which is there from one time to another.
    pub(crate) fn new(file: &'a CallFile, from: i64, to: i64, lanes: usize) -> Self {
        Self {
            file,
            blocks: Vec::new(),
            waiting: Vec::with_capacity(BLOCK),
            since: from,
            long: Vec::new(),
            buckets: Buckets::of_count(from, to, BUCKETS.min(BUCKETS_TOGETHER / lanes.max(1))),
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
            for small in [u32::from(call.depth), call.first, call.last] {
                bytes.extend(small.to_le_bytes());
            }
        }
        self.blocks.push(Block {
            start: self.file.append(&bytes)?,
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
        file: &CallFile,
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
            for mut call in self.read(file, block)? {
                for moment in [&mut call.begin, &mut call.end] {
                    moment.added = clock.corrected(moment.recorded) - moment.recorded;
                }
                collector.offer(call);
            }
        }
        Ok(Stretch::Calls(collector.slices(regions)))
    }

    /// The calls of a block, to whose times nothing is added yet.
    fn read(&self, file: &CallFile, block: usize) -> io::Result<Vec<Call>> {
        let Block { start, count, .. } = self.blocks[block];
        let bytes = file.read(start, count * BYTES)?;
        let (calls, _) = bytes.as_chunks::<BYTES>();
        let call = |it: &[u8; BYTES]| {
            let [begin, end] = [0, 8].map(|at| {
                let (number, _) = it[at..].as_chunks::<8>();
                Moment {
                    recorded: i64::from_le_bytes(number[0]),
                    added: 0,
                }
            });
            let [region, depth, first, last] = [16, 20, 24, 28].map(|at| {
                let (number, _) = it[at..].as_chunks::<4>();
                u32::from_le_bytes(number[0])
            });
            Call {
                region,
                begin,
                end,
                first,
                last,
                depth: depth as u16,
            }
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
