//! Kernels that do not say what they do, told by the call that launched them.
//!
//! NCCL's kernels carry their operation, sizes and group since PyTorch 2.2. Before, and where a
//! library other than NCCL brings kernels of its own, a kernel has a number only
//! ("correlation"), which the call of the runtime that launched it has, too. That call lies within
//! those by which the program asked for the operation, one in the other on one thread:
//!
//! ```text
//! c10d::alltoall_base_        elements of both tensors
//!   record_param_comms        all, in newer versions
//!     nccl:all_to_all         operation and sizes
//!       cudaLaunchKernel 41246
//!                                          ncclKernel_SendRecv 41246      on a stream, later
//! ```
//!
//! Where the clock of a thread was set back, stamps do not tell what lies within what: then launches, whose
//! numbers rise, are stamped in another order, and nothing is told by what this thread did.
//!
//! A kernel is that call if no other was launched within it; one that does several calls
//! [together](crate::together) is all of these. Launches of a CUDA graph are within none, and several
//! kernels have the number of one.

use std::collections::{BTreeMap, BTreeSet};

use retime_model::Operation;

use crate::call::{Around, Call, Elements, Kernel, On, Tells, What};
use crate::columns::Columns;
use crate::peers::PEERLESS;
use crate::threads::Threads;
use crate::together;

/// A kernel that does several calls, of which it does not follow what they order: how it is counted, in
/// words that take a plural.
const COALESCED: &str = "coalesced communication kernel";

/// Kernels that do not say what they do, with the launches and calls that tell it for them.
#[derive(Debug, Default)]
pub(crate) struct Launches {
    pub(crate) kernels: Vec<Kernel>,
    /// Number and event of each launch.
    pub(crate) calls: Vec<(u64, u32)>,
    /// Calls on the program's own threads.
    pub(crate) around: Vec<Around>,
}

impl Launches {
    /// The tracks of threads whose clock was set back, as launches tell, and other calls with their numbers.
    pub(crate) fn set_back(
        &self,
        others: impl Iterator<Item = (u64, u32)>,
        columns: &Columns,
    ) -> BTreeSet<u32> {
        let place = |event: u32| (columns.track(event), columns.begin(event) as i64);
        fallen(&in_order(self.calls.iter().copied().chain(others), place))
    }

    /// How many operations the program asked for.
    pub(crate) fn asked(&self) -> u64 {
        let count = |is: fn(&Tells) -> bool| {
            let of_kind = self.around.iter().filter(|it| is(&it.tells));
            of_kind.count() as u64
        };
        let ranges = count(|it| matches!(it, Tells::Operation(..)));
        ranges.max(count(|it| matches!(it, Tells::All(_))))
    }

    /// True if calls by which the program asked for operations say their group, or these kernels do.
    pub(crate) fn asked_of_groups(&self, kernels: &[Call]) -> bool {
        let asked = self.around.iter().filter_map(|it| match &it.tells {
            Tells::All(call) => Some(call),
            _ => None,
        });
        let mut all = kernels.iter().chain(asked);
        all.any(|it| it.group.is_some())
    }

    /// The calls that kernels are, and those of which that cannot be told, if launches are
    /// [sorted](Self::sort).
    pub(crate) fn named(self, columns: &Columns, threads: &Threads) -> (Vec<Call>, Vec<Kernel>) {
        if self.kernels.is_empty() {
            return (Vec::new(), Vec::new());
        }
        let stays = Stays::of(&self, columns, threads);
        let launched: Vec<Option<Within<'_>>> = self
            .kernels
            .iter()
            .map(|kernel| stays.within(columns, self.launch(kernel.launch?)?))
            .collect();
        // How many kernels each range launched.
        let mut kernels: BTreeMap<u32, u32> = BTreeMap::new();
        for within in launched.iter().flatten() {
            *kernels.entry(within.event).or_default() += 1;
        }
        let told = |kernel: &Kernel, within: Option<&Within<'_>>| match within? {
            it if kernels.get(&it.event) != Some(&1) => None,
            Within {
                says: Says::Together(place),
                ..
            } => Some(match stays.asked_before(*place, &kernels) {
                AskedTogether::Peerless => Err(PEERLESS),
                AskedTogether::Calls(asked) if asked.is_empty() => return None,
                AskedTogether::Calls(asked) => {
                    let calls = together::calls(kernel.event, &asked);
                    (!calls.is_empty()).then_some(calls).ok_or(COALESCED)
                }
            }),
            it => Some(it.call(kernel.event).map(|it| vec![it]).ok_or(PEERLESS)),
        };
        let told: Vec<Option<Result<Vec<Call>, &'static str>>> = (self.kernels.iter())
            .zip(&launched)
            .map(|(kernel, within)| told(kernel, within.as_ref()))
            .collect();
        let (mut named, mut unnamed) = (Vec::new(), Vec::new());
        for (kernel, told) in self.kernels.into_iter().zip(told) {
            match told {
                Some(Ok(calls)) => {
                    named.extend(calls.into_iter().map(|it| it.counted_by(kernel.counted)));
                }
                Some(Err(kind)) => unnamed.push(Kernel { kind, ..kernel }),
                None => unnamed.push(kernel),
            }
        }
        (named, unnamed)
    }

    /// Puts launches in the order of their numbers, by which they are looked for.
    pub(crate) fn sort(&mut self) {
        self.calls.sort_unstable();
    }

    /// The event that launched the kernel of a number, if there is one alone.
    pub(crate) fn launch(&self, number: u64) -> Option<u32> {
        let from = self.calls.partition_point(|it| it.0 < number);
        let mut found = self.calls.get(from..)?.iter();
        let (_, event) = found.next().filter(|it| it.0 == number)?;
        found
            .next()
            .is_none_or(|it| it.0 != number)
            .then_some(*event)
    }
}

/// The calls around a launch.
struct Within<'a> {
    /// The event of that one by which its kernels are known.
    event: u32,
    says: Says<'a>,
}

/// The statements of the calls around a launch about its kernels.
enum Says<'a> {
    All(&'a Call),
    /// Operation, sizes of the input, and elements of both tensors.
    Range(Operation, &'a str, Option<Elements>),
    /// A message, to or from whom is not said.
    Peerless,
    /// All that was asked for before this place.
    Together(usize),
}

/// Calls that were asked for, and are done together.
enum AskedTogether<'a> {
    Calls(Vec<&'a Call>),
    /// A message is among them of which nothing says the peer.
    Peerless,
}

impl Within<'_> {
    /// The call that a kernel of this launch is, if it is one alone.
    fn call(&self, event: u32) -> Option<Call> {
        match self.says {
            Says::All(call) => Some(Call {
                event,
                ..call.clone()
            }),
            Says::Range(operation, sizes, elements) => {
                Some(of_range(event, operation, sizes, elements))
            }
            Says::Peerless | Says::Together(_) => None,
        }
    }
}

/// A call as versions tell it whose kernels say nothing.
fn of_range(event: u32, operation: Operation, sizes: &str, elements: Option<Elements>) -> Call {
    // What goes to each member and comes from it is not said. Where the tensors differ it
    // differs, and may be nothing.
    let is_even = elements.is_some_and(|it| it.input == it.output);
    let (operation, sizes) = match operation {
        Operation::Alltoall if !is_even => (Operation::Alltoallv, ""),
        other => (other, sizes),
    };
    let signature = format!("{operation:?} {sizes}");
    Call {
        members: members(operation, elements),
        ..Call::unnamed(event, What::Collective(operation), signature, On::Stream)
    }
}

/// How many members a group has, from how much more there is after an operation than before.
fn members(operation: Operation, elements: Option<Elements>) -> Option<u32> {
    let Elements { input, output } = elements?;
    let (less, more) = match operation {
        Operation::Allgather => (input, output),
        Operation::ReduceScatter => (output, input),
        _ => return None,
    };
    let is_whole = less > 0 && more % less == 0;
    is_whole.then(|| u32::try_from(more / less).ok())?
}

/// A call that launched something: its thread and when it began, and its number.
type Launched = ((u32, i64), u64);

/// Calls, by the thread and the time that `place` says.
fn in_order(
    calls: impl Iterator<Item = (u64, u32)>,
    place: impl Fn(u32) -> (u32, i64),
) -> Vec<Launched> {
    let mut launched: Vec<Launched> = calls.map(|it| (place(it.1), it.0)).collect();
    launched.sort_unstable();
    launched
}

/// The threads whose clock was set back, by their launches as stamped: these are in another order than numbered.
fn fallen(launched: &[Launched]) -> BTreeSet<u32> {
    // Some profilers write 0 where they know no number.
    let falls = launched
        .windows(2)
        .filter(|it| it[0].0.0 == it[1].0.0 && it[0].1 > it[1].1 && it[1].1 != 0);
    falls.map(|it| it[0].0.0).collect()
}

/// The calls on the program's threads, by thread and begin.
struct Stays<'a> {
    all: Vec<Stay<'a>>,
    /// Thread and time of each launch, in this order.
    launches: Vec<(u32, i64)>,
    threads: &'a Threads,
    /// Threads whose clock was set back.
    set_back: BTreeSet<u32>,
}

#[derive(Clone, Copy)]
struct Stay<'a> {
    track: u32,
    begin: i64,
    end: i64,
    around: &'a Around,
}

impl<'a> Stays<'a> {
    fn of(launches: &'a Launches, columns: &Columns, threads: &'a Threads) -> Self {
        // As signed numbers: times before 0 are not counted from elsewhere yet.
        let place = |event: u32| {
            let track = threads.track(columns.track(event));
            (track, columns.begin(event) as i64)
        };
        let stay = |around: &'a Around| {
            let (track, begin) = place(around.event);
            let length = columns.length(around.event).unwrap_or_default();
            Stay {
                track,
                begin,
                end: begin.saturating_add_unsigned(length),
                around,
            }
        };
        let mut all: Vec<Stay<'a>> = launches.around.iter().map(stay).collect();
        all.sort_by_key(|it| (it.track, it.begin, it.around.event));
        let numbered = in_order(launches.calls.iter().copied(), place);
        Self {
            all,
            set_back: fallen(&numbered),
            launches: numbered.into_iter().map(|it| it.0).collect(),
            threads,
        }
    }

    /// True if anything was launched within a call, whether or not its kernel says what it is.
    fn has_launched(&self, stay: &Stay<'_>) -> bool {
        let from = (stay.track, stay.begin);
        let next = self.launches.partition_point(|it| *it < from);
        let next = self.launches.get(next);
        next.is_some_and(|it| *it <= (stay.track, stay.end))
    }

    /// The calls that a launch is within; nothing if they do not tell the operation.
    fn within(&self, columns: &Columns, launch: u32) -> Option<Within<'a>> {
        let track = self.threads.track(columns.track(launch));
        let time = columns.begin(launch) as i64;
        if self.set_back.contains(&track) {
            return None;
        }
        let after = self
            .all
            .partition_point(|it| (it.track, it.begin) <= (track, time));
        let before = self.all.get(..after)?.iter().rev();
        // Of ranges that outlast what they launched the last counts, if nothing was asked for since.
        let last = before.clone().next();
        let last = last.filter(|it| it.track == track && it.end >= time);
        let last = last.filter(|it| matches!(it.around.tells, Tells::Together));
        let together = last.map(|it| Within {
            event: it.around.event,
            says: Says::Together(after - 1),
        });
        // A thread has no more calls in each other than there are kinds; earlier ones are over.
        let near = before.take(DEPTH).take_while(|it| it.track == track);
        let (mut all, mut range, mut elements) = (None, None, None);
        for Stay { around, .. } in near.filter(|it| it.end >= time) {
            match &around.tells {
                Tells::All(call) => _ = all.get_or_insert((around.event, Says::All(call))),
                Tells::Peerless => _ = all.get_or_insert((around.event, Says::Peerless)),
                Tells::Operation(operation, sizes) => {
                    range.get_or_insert((around.event, *operation, &**sizes));
                }
                Tells::Elements(it) => _ = elements.get_or_insert(*it),
                Tells::Together => {}
            }
        }
        let by_range = || {
            let (event, operation, sizes) = range?;
            let says = Says::Range(operation, sizes, elements);
            Some(Within { event, says })
        };
        let by_all = all.map(|(event, says)| Within { event, says });
        by_all.or_else(by_range).or(together)
    }

    /// The calls on the thread of a range before it that launched nothing, after the last that
    /// did. A range that launched kernels, given how many each did, ends what was asked for before.
    fn asked_before(&self, range: usize, kernels: &BTreeMap<u32, u32>) -> AskedTogether<'a> {
        let track = self.all.get(range).map(|it| it.track);
        let before = self.all.get(..range).unwrap_or_default().iter().rev();
        let on_thread = before.take_while(|it| Some(it.track) == track);
        let tells = on_thread.filter(|it| !matches!(it.around.tells, Tells::Elements(_)));
        let is_asked = |it: &&Stay<'_>| {
            matches!(it.around.tells, Tells::All(_) | Tells::Peerless)
                && !kernels.contains_key(&it.around.event)
                && !self.has_launched(it)
        };
        let asked = tells.take_while(is_asked).map(|it| match &it.around.tells {
            Tells::All(call) => Some(call),
            _ => None,
        });
        let asked: Option<Vec<&Call>> = asked.collect();
        asked.map_or(AskedTogether::Peerless, |mut calls| {
            calls.reverse();
            AskedTogether::Calls(calls)
        })
    }
}

/// Calls that are looked at around a launch: as many as there are kinds, and those that ended
/// just before within the outermost.
const DEPTH: usize = 8;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use super::*;

    #[test]
    fn times_below_zero_are_ordered_like_others() {
        let around = [Around {
            event: 1,
            tells: Tells::Operation(Operation::Allreduce, String::new()),
        }];
        // A launch before the range, the range, and a launch within it; the latter two from
        // 10 before 0 on.
        let columns = Columns {
            begins: vec![(-20_i64) as u64, (-10_i64) as u64, 5],
            lengths: vec![1, 30, 1],
            tracks: vec![0; 3],
            digits: Vec::new(),
        };
        let threads = Threads::default();
        let launches = Launches {
            around: around.into(),
            ..Launches::default()
        };
        let stays = Stays::of(&launches, &columns, &threads);
        assert_eq!(stays.within(&columns, 2).map(|it| it.event), Some(1));
        assert!(stays.within(&columns, 0).is_none());
    }

    #[test]
    fn nothing_lies_within_what_a_thread_did_whose_clock_was_set_back() {
        let told = |numbers: [u64; 2]| {
            let launches = Launches {
                around: vec![Around {
                    event: 0,
                    tells: Tells::Operation(Operation::Allreduce, String::new()),
                }],
                calls: vec![(numbers[0], 1), (numbers[1], 2)],
                ..Launches::default()
            };
            let columns = Columns {
                begins: vec![10, 12, 90],
                lengths: vec![10, 1, 1],
                tracks: vec![0; 3],
                digits: Vec::new(),
            };
            let threads = Threads::default();
            Stays::of(&launches, &columns, &threads)
                .within(&columns, 1)
                .is_some()
        };
        assert!(told([7, 8]));
        assert!(!told([8, 7]));
        assert!(told([8, 0]));
    }

    #[test]
    fn tracks_of_one_thread_are_one() {
        let around = [Around {
            event: 0,
            tells: Tells::Operation(Operation::Allreduce, String::new()),
        }];
        let columns = Columns {
            begins: vec![5, 10],
            lengths: vec![10, 8],
            tracks: vec![0, 2],
            digits: Vec::new(),
        };
        let launches = Launches {
            around: around.into(),
            ..Launches::default()
        };
        let mut lanes = [None; 3];
        let is_within = |lanes: [Option<u32>; 3]| {
            let threads = Threads::of(lanes.into_iter());
            let stays = Stays::of(&launches, &columns, &threads);
            stays.within(&columns, 1).is_some()
        };
        assert!(!is_within(lanes));
        lanes[2] = Some(0);
        assert!(is_within(lanes));
    }
}
