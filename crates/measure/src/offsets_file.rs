//! What `retime correct --offsets` reads: a line for each measurement of each process.
//!
//! ```text
//! # location  stamp       offset    bound
//! 1           7123456789  -1500ns   210ns
//! ```
//!
//! A line names the rank as location, which is how Score-P and others number the locations of
//! processes; the stamp is what its clock showed, in ticks.

use std::fmt::Write as _;

use retime_model::{TickRate, Ticks};

use crate::measured::Measured;

/// The measurements of a run, made one after the other.
#[derive(Clone, Debug)]
pub struct OffsetsFile {
    rate: TickRate,
    text: String,
}

impl OffsetsFile {
    /// The first line of a file, by which one that was written before is known.
    pub const BEGINNING: &str = "# retime offsets 1";

    /// Without any measurement, of clocks of that name and rate.
    pub fn new(clock: &str, rate: TickRate) -> Self {
        let ticks = rate.get();
        let beginning = Self::BEGINNING;
        Self {
            rate,
            text: format!(
                "{beginning}: clock {clock}, {ticks} ticks per second\n\
                 # for retime correct TRACE --method interpolation --offsets FILE\n\
                 # location stamp offset bound\n"
            ),
        }
    }

    /// Adds what was measured of each rank.
    pub fn add(&mut self, ranks: &[Option<Measured>]) {
        for (rank, measured) in ranks.iter().enumerate() {
            // Writing to a string does not fail.
            let _ = match measured {
                Some(it) => {
                    let (offset, bound) = (self.span(it.offset), self.span(it.bound));
                    writeln!(self.text, "{rank} {} {offset} {bound}", it.at.0)
                }
                None => writeln!(
                    self.text,
                    "# {rank}: its clock, or one between, was set back"
                ),
            };
        }
    }

    fn span(&self, Ticks(ticks): Ticks) -> String {
        let unit = if self.rate == TickRate::NANOSECONDS {
            "ns"
        } else {
            "ticks"
        };
        format!("{ticks}{unit}")
    }

    /// All of it.
    pub fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_model::Timestamp;

    #[test]
    fn a_line_for_each_rank() {
        let measured = Measured {
            offset: Ticks(-15),
            bound: Ticks(4),
            ..Measured::reference(Timestamp(99))
        };
        for (ticks, unit) in [(1_000_000_000, "ns"), (7, "ticks")] {
            let rate = TickRate::per_second(ticks).unwrap();
            let mut file = OffsetsFile::new("tsc", rate);
            file.add(&[
                Some(Measured::reference(Timestamp(8))),
                Some(measured),
                None,
            ]);
            let text = file.text();
            assert!(text.starts_with(OffsetsFile::BEGINNING));
            assert!(text.contains(&format!("clock tsc, {ticks} ticks per second\n")));
            let lines: Vec<&str> = text.lines().filter(|it| !it.starts_with('#')).collect();
            assert_eq!(
                lines,
                [
                    format!("0 8 0{unit} 0{unit}"),
                    format!("1 99 -15{unit} 4{unit}")
                ]
            );
        }
    }
}
