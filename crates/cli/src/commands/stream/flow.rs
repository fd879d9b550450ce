//! The method between the lines that come and those that leave: the filter, or segments that are
//! shifted.

use std::io::{self, Write};

use retime::estimate::NoEstimate;
use retime::{ClockId, LocationIndex, TickRate};
use retime_methods::GrowingShifts;
use retime_stream::Segments;
use retime_stream::lines::{Lines, Record, Refused, SegmentLines};

use super::args::{StreamArgs, StreamMethod};

/// The method that lines go through.
pub(super) enum Flow<'a> {
    /// The controlled logical clock.
    Filter {
        args: &'a StreamArgs,
        lines: Box<Lines>,
    },
    /// Pseudo-synchronisation.
    Segments(Box<SegmentFlow<'a>>),
}

impl<'a> Flow<'a> {
    pub(super) fn new(args: &'a StreamArgs) -> Self {
        match args.method {
            StreamMethod::Clc => Self::Filter {
                args,
                lines: Box::default(),
            },
            StreamMethod::Shifts | StreamMethod::ClosedShifts => {
                Self::Segments(Box::new(SegmentFlow {
                    args,
                    lines: SegmentLines::default(),
                    shifts: None,
                    has_failed: false,
                }))
            }
        }
    }

    /// Takes a line; says what is wrong with it, or with all lines so far.
    pub(super) fn take(
        &mut self,
        line: &[u8],
        read: u64,
        out: &mut impl Write,
    ) -> Result<(), Refused> {
        match self {
            Self::Filter { args, lines } => {
                let options = |ticks| args.filter(ticks).map_err(|error| error.to_string());
                lines.take(line, read, options, out)
            }
            Self::Segments(flow) => flow.take(line, read, out),
        }
    }

    pub(super) fn too_long(&self, start: &[u8], from: u64) -> Refused {
        match self {
            Self::Filter { lines, .. } => lines.too_long(start, from),
            Self::Segments(flow) => flow.lines.too_long(start, from),
        }
    }

    /// No line comes any more; fails if some cannot be put in order.
    pub(super) fn finish(&mut self) -> Result<(), Refused> {
        match self {
            Self::Filter { lines, .. } => lines.finish(),
            Self::Segments(flow) => flow.finish()?,
        }
        Ok(())
    }

    /// Writes at time `now` the lines that have left.
    pub(super) fn give(&mut self, now: u64, out: &mut impl Write) -> io::Result<()> {
        match self {
            Self::Filter { lines, .. } => lines.give(now, out),
            Self::Segments(flow) => flow.lines.give(now, out),
        }
    }
}

/// Segments, and the shifts of their clocks.
pub(super) struct SegmentFlow<'a> {
    args: &'a StreamArgs,
    pub(super) lines: SegmentLines,
    /// Known with the first line.
    shifts: Option<GrowingShifts>,
    /// True if no shifts were found: nothing leaves any more.
    has_failed: bool,
}

impl SegmentFlow<'_> {
    fn take(&mut self, line: &[u8], read: u64, out: &mut impl Write) -> Result<(), Refused> {
        let args = self.args;
        let options = |ticks| args.segments(ticks).map_err(|error| error.to_string());
        self.lines.take(line, read, options, out)?;
        if self.lines.is_due() && !self.lines.segments().is_some_and(Segments::is_finished) {
            self.shift(|shifts| shifts.shifts().map(<[_]>::to_vec))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Refused> {
        if self.lines.segments().is_none() || self.has_failed {
            return Ok(());
        }
        self.lines.finish();
        let all = |shifts: Vec<i128>| shifts.into_iter().map(Some).collect();
        self.shift(|shifts| shifts.last_shifts().map(all))
    }

    /// Takes up what has come, and puts it in order by the shifts that `ask` tells.
    fn shift(
        &mut self,
        ask: impl FnOnce(&mut GrowingShifts) -> Result<Vec<Option<i128>>, NoEstimate>,
    ) -> Result<(), Refused> {
        let base = self.base()?;
        let Some(segments) = self.lines.segments_mut() else {
            return Ok(());
        };
        let closure = self.args.method == StreamMethod::ClosedShifts;
        let new = || GrowingShifts::new(segments.clocks(), base, closure);
        let shifts = self.shifts.get_or_insert_with(new);
        for passage in segments.passages() {
            shifts.message(passage.from, passage.to, passage.took);
        }
        let shifted = match ask(shifts) {
            Ok(found) => segments.shift(&found).map_err(|error| error.to_string()),
            Err(error) => Err(self.words(&error)),
        };
        self.has_failed = shifted.is_err();
        shifted.map_err(Refused::Stream)
    }

    /// The clock of the reference.
    fn base(&self) -> Result<ClockId, Refused> {
        let names = self.lines.names();
        let at = match &self.args.reference {
            None => Some(0),
            Some(name) => names.iter().position(|it| it == name),
        };
        let location = at.map(|at| LocationIndex(at as u32));
        let segments = self.lines.segments();
        let clock = location.and_then(|location| segments?.clock_of(location));
        clock.ok_or_else(|| {
            let name = self.args.reference.as_deref().unwrap_or_default();
            Refused::Stream(format!(
                "--reference {name} is no location of the first line"
            ))
        })
    }

    /// Why there are no shifts, with the names of locations.
    fn words(&self, error: &NoEstimate) -> String {
        let names = |clocks: &[ClockId], between: &str| {
            let all: Vec<&str> = clocks.iter().map(|&clock| self.name(clock)).collect();
            all.join(between)
        };
        match error {
            NoEstimate::Unrelated(clocks) => format!(
                "no message relates these locations to the reference: {}",
                names(clocks, ", ")
            ),
            NoEstimate::OneDirection(from, to) => format!(
                "messages go only from {} to {}, and none lead there from the reference",
                self.name(*from),
                self.name(*to)
            ),
            NoEstimate::Infeasible(clocks, by) => {
                let rate = self.lines.segments().map(|it| it.options().rate);
                format!(
                    "clocks drift apart: no constant shifts fit the messages so far along {}, they \
                     miss it by {}; --method clc needs no constants",
                    names(clocks, " -> "),
                    rate.unwrap_or(TickRate::NANOSECONDS).format(*by)
                )
            }
            other => other.to_string(),
        }
    }

    /// The name of the first location that reads a clock.
    fn name(&self, clock: ClockId) -> &str {
        let segments: Option<&Segments<Record>> = self.lines.segments();
        let names = (0..).zip(self.lines.names());
        let reads = |at: u32| segments.and_then(|it| it.clock_of(LocationIndex(at))) == Some(clock);
        let mut found = names.filter(|(at, _)| reads(*at)).map(|(_, name)| name);
        found.next().map_or("", String::as_str)
    }
}
