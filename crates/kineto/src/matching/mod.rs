//! Which calls of different ranks are one operation.
//!
//! ```text
//! files --> calls by group          labels say the group; of gloo's, threads tell it
//!       --> sequence of each rank   by number if they have one, else by alignment
//!       --> Joined                  one name for all calls of an operation
//! ```
//!
//! What is not certain is not joined, and counted. What an operation orders follows from
//! its class, and for rooted ones from the root, which only the program's own request says.

mod alignment;
mod backwards;
mod bent;
mod by_ends;
mod calls;
mod candidates;
mod difference;
mod disjoint_sets;
mod doubt;
mod gloo;
mod item;
mod laid;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod launched;
mod messages;
mod moments;
mod ordered;
mod other_run;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod parts;
mod pools;
mod queue;
mod reasons;
mod rising;
mod roles;
mod set_back;
mod stages;
mod stepped;
mod strangers;
#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "failing is how a test reports"
)]
mod told;
mod two_ranks;
mod uneven;
mod windows;

use std::collections::{BTreeMap, BTreeSet};

use retime_model::{Class, MessageId, Operation, OperationId, plural};
use serde::{Deserialize, Serialize};

use self::alignment::{Known, Shift, between};
use self::bent::Bent;
pub(crate) use self::calls::Group;
use self::calls::{Calls, Instance, Sequence};
use self::doubt::Doubt;
use self::gloo::Grouped;
use self::item::Item;
use self::laid::Laid;
use self::moments::{FileMoments, KnownClocks};
use self::other_run::OtherRuns;
use self::queue::Queue;
use self::reasons::{ALONE, AMBIGUOUS, CONTRADICTORY, DOUBTFUL, MIXED, NO_ORDER, TWICE};
use self::roles::MemberRoles;
pub(crate) use self::set_back::{SetBack, ShownTwice};
use self::two_ranks::TwoRanks;
use self::windows::{InWindow, Windows};
use crate::call::What;
use crate::profile::FileRead;

/// A call that was joined with those of other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Joined {
    /// Its event, by its position in the columns of its file.
    pub(crate) event: u32,
    pub(crate) part: Part,
}

/// The part that a call plays in communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Part {
    Collective {
        id: OperationId,
        class: Class,
        /// Rank in the group.
        rank: u32,
        /// The number of calls whose begins others wait for, if its own is one of them.
        cause: Option<u32>,
        /// The number of calls whose ends wait for others, if its own is one of them.
        effect: Option<u32>,
    },
    Send(MessageId),
    Receive(MessageId),
}

impl Part {
    /// The operation that it is a part of: true of messages, its space, and its number there.
    const fn operation(self) -> (bool, u64, u64) {
        match self {
            Self::Collective { id, .. } => (false, id.space, id.number),
            Self::Send(id) | Self::Receive(id) => (true, id.space, id.number),
        }
    }
}

/// The result of joining: calls that are one operation, and those that were left out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Matching {
    /// The groups that operations are of.
    pub(crate) groups: Vec<Group>,
    /// The calls of each file that were joined.
    pub(crate) joined: Vec<Vec<Joined>>,
    /// How many of each were not, and why.
    pub(crate) unmatched: Vec<BTreeMap<&'static str, u64>>,
    /// Why groups of calls could not be told.
    doubts: BTreeSet<Doubt>,
    /// Ranks whose clocks differ by no straight line, by name, and by how much they do if that is known.
    bent: BTreeMap<(String, String), Option<Bent>>,
    /// Such ranks by file, while calls are joined.
    suspected: BTreeMap<(usize, usize), Option<Bent>>,
    /// Files whose recordings neither meet those of others nor belong with them, in words.
    unrelated: BTreeMap<usize, String>,
    /// Other files that share nothing with most, though their calls are numbered in the same groups, by name.
    strangers: BTreeMap<usize, String>,
    /// How many calls are stamped in another order than their numbers have, or while their clock showed
    /// stamps that it had shown before.
    backwards: usize,
    /// The file and the first track of whose calls these are, if a file can be of several ranks.
    parts: Option<Vec<(usize, u32)>>,
    /// In so many spaces operations are numbered.
    spaces: u64,
}

/// Joins the calls of all files.
pub(crate) fn matched(files: &[FileRead]) -> Matching {
    let calls = Calls::of(files);
    let mut matching = Matching {
        joined: vec![Vec::new(); files.len()],
        unmatched: vec![BTreeMap::new(); files.len()],
        ..Matching::default()
    };
    let mut messages = Vec::new();
    let labelled = calls.labelled();
    let other_runs = OtherRuns::of(&calls, &labelled);
    let numbered = strangers::numbered_together(&calls, &labelled);
    for (label, mut members) in labelled {
        if calls.is_of_one(&label, &members) {
            continue;
        }
        let group = calls.group(&label, &members);
        let others = members.extract_if(.., |it| other_runs.refuted.contains(&it.0));
        matching.reject(&others.collect::<Vec<Sequence>>(), CONTRADICTORY);
        let mixed = members.extract_if(.., |it| calls.is_mixed(it));
        matching.reject(&mixed.collect::<Vec<Sequence>>(), MIXED);
        let (collectives, of_group): (Vec<Sequence>, Vec<Sequence>) = members
            .into_iter()
            .map(|(file, its)| calls.apart(file, its))
            .unzip();
        matching.collectives(&calls, &group, &collectives);
        messages.push((matching.position(group), of_group));
    }
    matching.of_gloo(&calls);
    matching.ordered(&calls);
    matching.messages(&calls, &messages);
    matching.unrelated = other_runs.unrelated(&calls, |a, b| matching.share(a, b));
    let operations = |file| matching.operations(file);
    let strangers = strangers::strangers(files.len(), operations, &numbered).into_iter();
    let is_told = |it: &usize| matching.unrelated.contains_key(it) || calls.is_set_back(*it);
    let strangers = strangers.filter(|it| !is_told(it));
    matching.strangers = strangers.map(|it| (it, calls.name(it))).collect();
    matching.name_bent(&calls);
    for joined in &mut matching.joined {
        joined.sort_unstable_by_key(|it| it.event);
    }
    matching
}

impl Matching {
    fn count(&mut self, file: usize, why: &'static str, calls: usize) {
        if let Some(unmatched) = self.unmatched.get_mut(file)
            && calls > 0
        {
            *unmatched.entry(why).or_default() += calls as u64;
        }
    }

    fn reject(&mut self, sequences: &[Sequence], why: &'static str) {
        for (file, calls) in sequences {
            self.count(*file, why, calls.len());
        }
    }

    /// A matching by files, made of that of their parts, of which it is known which file they are of, and
    /// their first track there.
    pub(crate) fn by_file(self, parts: Vec<(usize, u32)>, files: usize) -> Self {
        let mut joined = vec![Vec::new(); files];
        for (own, &(file, _)) in self.joined.into_iter().zip(&parts) {
            if let Some(joined) = joined.get_mut(file) {
                joined.extend(own);
            }
        }
        for joined in &mut joined {
            joined.sort_unstable_by_key(|it: &Joined| it.event);
        }
        Self {
            joined,
            parts: Some(parts),
            ..self
        }
    }

    /// Counts something of a file that was not joined.
    pub(crate) fn leave_out(&mut self, file: usize, why: &'static str) {
        let part = match &self.parts {
            Some(parts) => parts.iter().position(|it| it.0 == file),
            None => Some(file),
        };
        if let Some(part) = part {
            self.count(part, why, 1);
        }
    }

    /// Says why groups of calls could not be told, and what to record.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut all = doubt::warnings(&self.doubts);
        all.extend(bent::warning(&self.bent));
        all.extend(other_run::warning(&self.unrelated));
        all.extend(other_run::warning_of_numbers(&self.strangers));
        if self.backwards > 0 {
            let calls = plural(self.backwards as u64, "call");
            let are = if self.backwards == 1 { "is" } else { "are" };
            all.push(format!(
                "{calls} {are} left out, since a clock was set back while a profile was recorded: they \
                 are stamped in another order than numbered, or as if they took no time, or by stamps that \
                 their clock showed twice, so that they may have been before that or after it"
            ));
        }
        all
    }

    /// The calls that were not joined: their file, a track of their rank there, why, and how many.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = (usize, u32, &'static str, u64)> + '_ {
        self.unmatched
            .iter()
            .enumerate()
            .flat_map(|(part, counts)| {
                let known = self.parts.as_ref().and_then(|it| it.get(part)).copied();
                let (file, track) = known.unwrap_or((part, 0));
                counts
                    .iter()
                    .map(move |(&why, &count)| (file, track, why, count))
            })
    }

    /// The files of another run, each with a track of its rank there.
    pub(crate) fn of_other_runs(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let files = self.unrelated.keys().chain(self.strangers.keys());
        files.map(|&it| {
            let part = self.parts.as_ref().and_then(|parts| parts.get(it));
            part.copied().unwrap_or((it, 0))
        })
    }

    /// True if two files take part in one operation, or send each other a message.
    fn share(&self, first: usize, second: usize) -> bool {
        let first: BTreeSet<(bool, u64, u64)> = self.operations(first).collect();
        self.operations(second).any(|it| first.contains(&it))
    }

    /// The operations that calls of a file were joined in.
    fn operations(&self, file: usize) -> impl Iterator<Item = (bool, u64, u64)> + '_ {
        let joined = self.joined.get(file).into_iter().flatten();
        joined.map(|it| it.part.operation())
    }

    /// Names ranks whose clocks seem to differ by no straight line, unless other calls of both refute it.
    fn name_bent(&mut self, calls: &Calls<'_>) {
        let suspected = std::mem::take(&mut self.suspected);
        for ((first, second), bent) in suspected {
            if [first, second]
                .iter()
                .any(|it| self.unrelated.contains_key(it))
            {
                continue;
            }
            let both =
                || Known::of_both(&self.recorded(calls, first), &self.recorded(calls, second));
            if bent.is_none_or(|it| both().is_none_or(|both| it.is_of_clocks(&both))) {
                let names = (calls.name(first), calls.name(second));
                self.bent.insert(names, bent);
            }
        }
    }

    /// Where a group is among those that operations are of.
    fn position(&mut self, group: Group) -> usize {
        let known = self.groups.iter().position(|it| *it == group);
        known.unwrap_or_else(|| {
            self.groups.push(group);
            self.groups.len() - 1
        })
    }

    /// Joins the collectives of a group whose calls say which it is.
    fn collectives(&mut self, calls: &Calls<'_>, group: &Group, sequences: &[Sequence]) {
        let numbered = sequences.iter().flat_map(|(file, its)| {
            let sequence = move |&call: &usize| calls.call(*file, call)?.sequence;
            its.iter().map(sequence)
        });
        let instances =
            if numbered.clone().next().is_some() && numbered.into_iter().all(|it| it.is_some()) {
                self.by_number(calls, sequences)
            } else {
                let mut known = KnownClocks::default();
                self.by_alignment(calls, group, sequences, &mut known)
            };
        self.join(calls, group, instances);
    }

    /// Joins the calls of threads of gloo.
    fn of_gloo(&mut self, calls: &Calls<'_>) {
        let grouped = Grouped::of(calls);
        let recorded = if grouped.groups.is_empty() {
            Vec::new()
        } else {
            self.all_recorded(calls)
        };
        for (group, sequences) in grouped.groups {
            if group.ranks.len() != 1 {
                self.unnumbered(calls, &group, &sequences, &recorded);
                self.position(group);
            }
        }
        self.reject(&grouped.mixed, MIXED);
        for ((file, its), doubt) in grouped.others {
            self.count(file, doubt.kind(), its.len());
            self.doubts.insert(doubt);
        }
    }

    /// Joins the calls of threads of a group: these take them from a queue, and only those of one
    /// signature are in order.
    fn unnumbered(
        &mut self,
        calls: &Calls<'_>,
        group: &Group,
        sequences: &[Sequence],
        recorded: &[FileMoments],
    ) {
        let mut instances = Vec::new();
        let mut doubtful: BTreeSet<(usize, usize)> = BTreeSet::new();
        let queues: BTreeMap<usize, Option<Queue>> = sequences
            .iter()
            .map(|it| (it.0, Queue::of(calls, it.0)))
            .collect();
        let mut known = KnownClocks::of(recorded);
        for sequences in gloo::by_signature(calls, sequences) {
            for sequence in &sequences {
                if let Some(Some(queue)) = queues.get(&sequence.0) {
                    let certain = queue
                        .certain(calls, sequence.0, &sequence.1)
                        .into_iter()
                        .zip(&sequence.1);
                    let uncertain = certain.filter(|it| !it.0);
                    doubtful.extend(uncertain.map(|(_, call)| (sequence.0, *call)));
                }
            }
            instances.extend(self.by_alignment(calls, group, &sequences, &mut known));
        }
        for instance in &mut instances {
            instance.retain(|it| !doubtful.contains(it));
        }
        for (file, _) in doubtful {
            self.count(file, AMBIGUOUS, 1);
        }
        self.join(calls, group, instances);
    }

    /// Operations by the numbers that their calls carry. Those that do not fit are not what
    /// their number says.
    fn by_number(&mut self, calls: &Calls<'_>, sequences: &[Sequence]) -> Vec<Instance> {
        let mut numbered: BTreeMap<(u64, u32), Instance> = BTreeMap::new();
        for (file, its) in sequences {
            for &call in its {
                let number = calls.call(*file, call).and_then(|it| it.sequence);
                let signature = calls.signature(*file, call);
                if let (Some(number), Some(signature)) = (number, signature) {
                    let instance = numbered.entry((number, signature)).or_default();
                    instance.push((*file, call));
                }
            }
        }
        let does = |instance: &Instance, what: Operation| {
            let mut calls = instance.iter().filter_map(|it| calls.call(it.0, it.1));
            calls.any(|it| it.what == What::Collective(what))
        };
        let uneven = numbered.iter();
        let uneven = uneven.filter(|(_, instance)| does(instance, Operation::Alltoallv));
        let uneven: BTreeSet<u64> = uneven.map(|((number, _), _)| *number).collect();
        let mut instances = Vec::new();
        for ((number, _), instance) in numbered {
            // A number twice in one file says nothing.
            let why = if let Some(twice) = instance.windows(2).find(|it| it[0].0 == it[1].0) {
                doubled(calls, twice[0])
            } else if uneven.contains(&number) && does(&instance, Operation::Alltoall) {
                // Those of whom as much comes as goes do not make an exchange an equal one.
                NO_ORDER
            } else {
                instances.push(instance);
                continue;
            };
            for (file, _) in instance {
                self.count(file, why, 1);
            }
        }
        let backwards = backwards::backwards(calls, &instances);
        for (file, _) in &backwards {
            self.count(*file, DOUBTFUL, 1);
        }
        self.backwards += backwards.len();
        for instance in &mut instances {
            instance.retain(|it| !backwards.contains(it));
        }
        instances
    }

    /// Operations by aligning sequences, those of each [window](windows) by themselves.
    fn by_alignment(
        &mut self,
        calls: &Calls<'_>,
        group: &Group,
        sequences: &[Sequence],
        known: &mut KnownClocks<'_>,
    ) -> Vec<Instance> {
        let windows = Windows::of(calls, sequences);
        self.reject(&windows.others, AMBIGUOUS);
        let mut instances = Vec::new();
        for together in windows.together {
            instances.extend(self.in_window(calls, group, &together, known));
        }
        instances
    }

    /// Operations by aligning the sequence of each file with that of a [pivot]. What this tells of
    /// clocks helps where other sequences of the same files say too little.
    fn in_window(
        &mut self,
        calls: &Calls<'_>,
        group: &Group,
        sequences: &[InWindow],
        known: &mut KnownClocks<'_>,
    ) -> Vec<Instance> {
        let Some(pivot) = pivot(calls, group, sequences) else {
            return Vec::new();
        };
        let mut laid = Laid::on(pivot, calls, group);
        let items = calls.items(group, pivot.file, &pivot.calls);
        for own in sequences.iter().filter(|it| it.file != pivot.file) {
            let file = own.file;
            let own_items = calls.items(group, file, &own.calls);
            let of_pair = known.of_pair(pivot.file, file);
            let two = TwoRanks {
                pivot,
                items: &items,
                own,
                own_items: &own_items,
            };
            let by_line = two.shift(calls, of_pair);
            let (shift, bent) = match by_line {
                Shift::By(_) => (by_line, None),
                _ => two.set_meanwhile(calls, of_pair, by_line),
            };
            if let Some(bent) = bent {
                self.suspected.insert((pivot.file, file), Some(bent));
            }
            match shift {
                Shift::By(shift) => {
                    if items.iter().all(Item::is_mutual) {
                        *of_pair = Known::of(&items, &own_items, shift);
                    }
                    let apart = laid.lay(own, &own_items, shift);
                    self.count(file, ALONE, apart);
                }
                Shift::Ambiguous => self.count(file, AMBIGUOUS, own.calls.len()),
                Shift::Impossible => self.count(file, CONTRADICTORY, own.calls.len()),
            }
        }
        laid.instances()
    }

    /// Counts a call of which it is not known when it was; true if it is one.
    fn leave_out_doubtful(&mut self, calls: &Calls<'_>, file: usize, call: usize) -> bool {
        let is_doubtful = calls.is_doubtful(file, call);
        if is_doubtful {
            self.count(file, DOUBTFUL, 1);
            self.backwards += 1;
        }
        is_doubtful
    }

    /// Names the calls of operations.
    fn join(&mut self, calls: &Calls<'_>, group: &Group, instances: Vec<Instance>) {
        let space = self.spaces;
        self.spaces += 1;
        for (number, mut instance) in (0..).zip(instances) {
            let id = OperationId { space, number };
            instance.retain(|&(file, call)| !self.leave_out_doubtful(calls, file, call));
            if let Err(why) = self.join_one(calls, group, id, &instance) {
                for (file, _) in instance {
                    self.count(file, why, 1);
                }
            }
        }
    }

    fn join_one(
        &mut self,
        calls: &Calls<'_>,
        group: &Group,
        id: OperationId,
        instance: &Instance,
    ) -> Result<(), &'static str> {
        let roles = MemberRoles::of(calls, group, instance)?;
        let (begins, ends) = (roles.begins(), roles.ends());
        for (&(file, call), role) in instance.iter().zip(&roles.members) {
            if !role.is_cause && !role.is_effect {
                self.count(file, NO_ORDER, 1);
                continue;
            }
            let (Some(call), Some(joined)) = (calls.call(file, call), self.joined.get_mut(file))
            else {
                continue;
            };
            joined.push(Joined {
                event: call.event,
                part: Part::Collective {
                    id,
                    class: roles.class,
                    rank: role.rank,
                    cause: role.is_cause.then_some(begins),
                    effect: role.is_effect.then_some(ends),
                },
            });
        }
        Ok(())
    }
}

/// The sequence with which all others are aligned: the longest of those that bound the clocks of most others,
/// as the root does and those that get something from it do not.
fn pivot<'a>(calls: &Calls<'_>, group: &Group, sequences: &'a [InWindow]) -> Option<&'a InWindow> {
    let first = |it: &InWindow| calls.items(group, it.file, it.calls.get(..1)?).pop();
    let firsts: Vec<Option<Item>> = sequences.iter().map(first).collect();
    let bounds = |a: &Option<Item>| {
        let others = firsts.iter().flatten();
        a.map(|a| others.filter(|b| between(&a, b).is_some()).count())
    };
    let sequences = sequences.iter().zip(&firsts).rev();
    let longest = sequences.max_by_key(|(it, first)| (bounds(first), it.calls.len()));
    longest.map(|it| it.0)
}

/// Why a call is not joined whose number is that of another in its file: ranks may have been put
/// together there, as several processes show, or it is one of several devices of a rank, or of a program that
/// says no group.
fn doubled(calls: &Calls<'_>, (file, call): (usize, usize)) -> &'static str {
    let says_size = calls
        .call(file, call)
        .is_some_and(|it| it.members.is_some());
    if says_size && (calls.rank(file).is_none() || calls.is_of_several(file)) {
        TWICE
    } else {
        AMBIGUOUS
    }
}
