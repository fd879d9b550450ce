//! A text notation for traces of a few events.
//!
//! A line for each location, in their order from 0 on: who it is, and what it recorded.
//!
//! ```text
//! trace     = location { newline location }
//! location  = number [ "of" number ] [ "on" number ] ":" [ event { "," event } ]
//! event     = "internal" "@" time
//!           | "send" number [ "tag" number ] "@" time
//!           | "receive" number [ "tag" number ] "@" time
//!           | operation [ number ] "@" time ".." time
//! operation = "barrier" | "bcast" | "gather" | "scatter" | "reduce" | "allreduce"
//!           | "allgather" | "alltoall" | "scan"
//! ```
//!
//! | notation | what it makes |
//! |---|---|
//! | `2:` | a process with one location, which is a rank of communicator 0, the world |
//! | `2 of 0:` | a thread of location 0's process, which speaks for that rank |
//! | `2 on 1:` | a process on node 1 |
//! | `send 1 tag 5 @100` | a message to rank 1 with tag 5 (else 0), sent at 100 |
//! | `bcast 0 @10..20` | a broadcast from rank 0, entered at 10 and left at 20 |
//!
//! Times are ticks of the location's clock, 10^9 per second, and do not fall. Events are
//! numbered from 0 on, begin and end of a collective operation one by one. In collective
//! operations everybody gives and gets bytes.
//!
//! ```
//! use retime_model::LocationIndex;
//! use retime_testing::trace;
//!
//! let trace = trace(
//!     "0 on 0: send 1 @100, internal @120, bcast 0 @150..151
//!      1 on 1: receive 0 @95, bcast 0 @200..201
//!      2 of 1: internal @7",
//! )?;
//! assert_eq!(trace.info.nodes.len(), 2);
//! assert_eq!(trace.info.locations[2].endpoint, LocationIndex(1));
//! assert_eq!(trace.logs.iter().map(|log| log.len()).sum::<usize>(), 6);
//! assert!(retime_testing::trace("0: sned 1 @100").is_err());
//! # Ok::<(), retime_testing::NotationError>(())
//! ```

use retime_model::{
    Collective, Communicator, Location, LocationIndex, LocationLog, LogBuilder, LogError, Members,
    Message, Operation, Process, Root, TickRate, Timestamp, TraceInfo,
};

const NANOSECONDS: TickRate = match TickRate::per_second(1_000_000_000) {
    Some(rate) => rate,
    None => panic!("10^9 is not 0"),
};

/// A trace as a format would read it: its description and its logs.
#[derive(Debug)]
pub struct SmallTrace {
    /// Locations, processes and the communicator of the trace.
    pub info: TraceInfo,
    /// The log of each location.
    pub logs: Vec<LocationLog>,
}

/// Why a text is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotationError {
    /// Text that the notation does not have.
    #[error("line {line}: \"{text}\" is no {expected}")]
    Unknown {
        /// Counted from 1.
        line: usize,
        /// The text.
        text: String,
        /// The word of the notation that was expected there.
        expected: &'static str,
    },
    /// Events that make no log.
    #[error("location {location}: {error}")]
    Log {
        /// The location.
        location: usize,
        /// Why they make none.
        error: LogError,
    },
}

/// Makes a trace from the [notation](self): one line for each location.
pub fn trace(text: &str) -> Result<SmallTrace, NotationError> {
    let lines = text.lines().enumerate().map(|(at, line)| Line {
        number: at + 1,
        text: line.trim(),
    });
    let mut info = TraceInfo {
        rate: NANOSECONDS,
        locations: Vec::new(),
        processes: Vec::new(),
        nodes: Vec::new(),
        communicators: Vec::new(),
        streams: Vec::new(),
        set_back: Vec::new(),
    };
    let mut logs = Vec::new();
    for line in lines.filter(|line| !line.text.is_empty()) {
        let (head, events) = line.split(line.text, ":", "location")?;
        line.location(head, &mut info)?;
        logs.push(line.log(logs.len(), events)?);
    }
    let is_rank = |it: &&Location| u64::from(it.endpoint.0) == it.id;
    let ranks = info.locations.iter().filter(is_rank);
    info.communicators.push(Communicator {
        name: "world".into(),
        members: Members::Ranks(ranks.map(|it| it.endpoint).collect()),
    });
    Ok(SmallTrace { info, logs })
}

/// A line of the text.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn unknown(self, text: &str, expected: &'static str) -> NotationError {
        NotationError::Unknown {
            line: self.number,
            text: text.trim().into(),
            expected,
        }
    }

    fn split(
        self,
        text: &'a str,
        at: &str,
        expected: &'static str,
    ) -> Result<(&'a str, &'a str), NotationError> {
        let parts = text.split_once(at);
        parts.ok_or_else(|| self.unknown(text, expected))
    }

    fn number<T: std::str::FromStr>(self, text: &str) -> Result<T, NotationError> {
        let number = text.trim().parse();
        number.map_err(|_| self.unknown(text, "number"))
    }

    /// Adds the location that a line begins with.
    fn location(self, head: &str, info: &mut TraceInfo) -> Result<(), NotationError> {
        let unknown = || self.unknown(head, "next location");
        let mut words = head.split_whitespace();
        let index = info.locations.len();
        if words.next() != Some(index.to_string().as_str()) {
            return Err(unknown());
        }
        let (mut of, mut node) = (None, None);
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(unknown)?;
            match word {
                "of" => of = Some(self.number::<usize>(value)?),
                "on" => node = Some(self.number::<usize>(value)?),
                _ => return Err(unknown()),
            }
        }
        let nodes = node.map_or(0, |node| node + 1).max(info.nodes.len());
        info.nodes = (0..nodes).map(|node| format!("node {node}")).collect();
        let (process, endpoint) = if let Some(of) = of {
            let rank = info.locations.get(of).ok_or_else(unknown)?;
            (rank.process, rank.endpoint)
        } else {
            info.processes.push(Process {
                name: format!("rank {index}"),
                node,
                creator: None,
            });
            (info.processes.len() - 1, LocationIndex(index as u32))
        };
        info.locations.push(Location {
            id: index as u64,
            name: format!("location {index}"),
            process,
            endpoint,
        });
        Ok(())
    }

    /// The log of a location.
    fn log(self, location: usize, events: &str) -> Result<LocationLog, NotationError> {
        let mut recorded = Recorded {
            log: LogBuilder::new(LocationIndex(location as u32)),
            count: 0,
            stamps: None,
        };
        for event in events.split(',').map(str::trim) {
            if !event.is_empty() {
                self.event(event, &mut recorded)?;
            }
        }
        let (first, last) = recorded.stamps.unwrap_or_default();
        let finished = recorded.log.finish(recorded.count, first, last);
        finished.map_err(|error| NotationError::Log { location, error })
    }

    fn event(self, event: &str, recorded: &mut Recorded) -> Result<(), NotationError> {
        let unknown = || self.unknown(event, "event");
        let (what, when) = event.split_once('@').ok_or_else(unknown)?;
        let words: Vec<&str> = what.split_whitespace().collect();
        if let Some((begin, end)) = when.split_once("..") {
            let what = self.operation(&words).ok_or_else(unknown)?;
            let number = recorded.next(self.number(begin)?);
            recorded.log.collective_begin(number.0, number.1);
            let number = recorded.next(self.number(end)?);
            recorded.log.collective_end(number.0, number.1, what);
            return Ok(());
        }
        let (number, time) = recorded.next(self.number(when)?);
        let (kind, peer, tag) = match words[..] {
            ["internal"] => return Ok(()),
            [kind, peer] => (kind, self.number(peer)?, 0),
            [kind, peer, "tag", tag] => (kind, self.number(peer)?, self.number(tag)?),
            _ => return Err(unknown()),
        };
        let message = Message {
            communicator: 0,
            peer: LocationIndex(peer),
            tag,
        };
        match kind {
            "send" => recorded.log.send(number, time, message, None),
            "receive" => recorded.log.receive(number, time, message),
            _ => return Err(unknown()),
        }
        Ok(())
    }

    fn operation(self, words: &[&str]) -> Option<Collective> {
        let (name, root) = match *words {
            [name] => (name, Root::None),
            [name, root] => (name, Root::Rank(self.number(root).ok()?)),
            _ => return None,
        };
        let (operation, is_rooted) = match name {
            "barrier" => (Operation::Barrier, false),
            "bcast" => (Operation::Bcast, true),
            "gather" => (Operation::Gather, true),
            "scatter" => (Operation::Scatter, true),
            "reduce" => (Operation::Reduce, true),
            "allreduce" => (Operation::Allreduce, false),
            "allgather" => (Operation::Allgather, false),
            "alltoall" => (Operation::Alltoall, false),
            "scan" => (Operation::Scan, false),
            _ => return None,
        };
        (is_rooted == (root != Root::None)).then_some(Collective {
            communicator: 0,
            operation,
            root,
            sent: true,
            received: true,
        })
    }
}

/// The events of a location that were read so far.
struct Recorded {
    log: LogBuilder,
    /// How many events.
    count: u64,
    /// The first and the last stamp.
    stamps: Option<(Timestamp, Timestamp)>,
}

impl Recorded {
    /// Counts an event; its number and its time.
    fn next(&mut self, time: u64) -> (u64, Timestamp) {
        let time = Timestamp(time);
        let first = self.stamps.map_or(time, |it| it.0);
        self.stamps = Some((first, time));
        self.count += 1;
        (self.count - 1, time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        trace(text).map_or_else(|error| error.to_string(), |_| "taken".into())
    }

    #[test]
    fn what_the_notation_lacks_is_said() {
        let cases = [
            ("1: internal @1", "line 1: \"1\" is no next location"),
            ("0\n", "line 1: \"0\" is no location"),
            ("0:\n1 of 2:", "line 2: \"1 of 2\" is no next location"),
            ("0: bcast @1..2", "line 1: \"bcast @1..2\" is no event"),
            (
                "0: barrier 0 @1..2",
                "line 1: \"barrier 0 @1..2\" is no event",
            ),
            ("0: send x @1", "line 1: \"x\" is no number"),
            ("0: send 1 tag 2", "line 1: \"send 1 tag 2\" is no event"),
        ];
        for (text, why) in cases {
            assert_eq!(refused(text), why);
        }
    }

    #[test]
    fn threads_speak_for_their_rank_and_are_none() {
        let trace = trace("0:\n1 of 0: send 2 @5\n2:").unwrap();
        let processes = trace.info.locations.iter().map(|it| it.process);
        assert_eq!(processes.collect::<Vec<_>>(), [0, 0, 1]);
        let Members::Ranks(world) = &trace.info.communicators[0].members else {
            panic!("a world of ranks");
        };
        assert_eq!(world[..], [0, 2].map(LocationIndex));
    }
}
