//! The calls of some files, by their groups.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use retime_model::{Class, Operation};
use rustc_hash::FxHashMap;

use super::item::Item;
use super::set_back::SetBack;
use crate::call::{Call, Label, On, What};
use crate::profile::FileRead;

/// A process group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// The ranks of its members, by their rank in it.
    pub(crate) ranks: Vec<u32>,
}

/// The calls of some files, and what is known of each.
pub(super) struct Calls<'a> {
    pub(super) files: &'a [FileRead],
    /// The first time in any of them.
    origin: u64,
    /// The number of each call's signature, by file and call.
    signatures: Vec<Vec<u32>>,
    /// From when to when each file has events, once somebody has asked.
    windows: Vec<OnceCell<(i64, i64)>>,
    /// The file of each rank.
    pub(super) file_of: FxHashMap<u32, usize>,
    set_back: SetBack,
}

/// The calls of one file in a group, in order.
pub(super) type Sequence = (usize, Vec<usize>);

/// Calls that are one operation, each a file and a call of that.
pub(super) type Instance = Vec<(usize, usize)>;

impl<'a> Calls<'a> {
    pub(super) fn of(files: &'a [FileRead]) -> Self {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let mut signature = |call: &'a Call| {
            let next = numbers.len() as u32;
            *numbers.entry(call.common()).or_insert(next)
        };
        let of_file = |file: &'a FileRead| file.calls.iter().map(&mut signature).collect();
        let signatures = files.iter().map(of_file).collect();
        let ranks = files.iter().enumerate();
        Self {
            files,
            origin: files
                .iter()
                .filter_map(FileRead::first)
                .min()
                .unwrap_or_default(),
            signatures,
            windows: vec![OnceCell::new(); files.len()],
            file_of: ranks
                .filter_map(|(file, it)| Some((it.header.rank?, file)))
                .collect(),
            set_back: SetBack::of(files),
        }
    }

    /// True if it is not known when a call began or ended, as its clock was set back.
    pub(super) fn is_doubtful(&self, file: usize, call: usize) -> bool {
        let both = self.files.get(file).zip(self.call(file, call));
        both.is_some_and(|(read, call)| self.set_back.is_doubtful(file, read, call))
    }

    /// True if the clock of a file was set back while it was recorded.
    pub(super) fn is_set_back(&self, file: usize) -> bool {
        self.set_back.is_of(file)
    }

    pub(super) fn call(&self, file: usize, call: usize) -> Option<&'a Call> {
        self.files.get(file)?.calls.get(call)
    }

    pub(super) fn signature(&self, file: usize, call: usize) -> Option<u32> {
        self.signatures.get(file)?.get(call).copied()
    }

    /// About the nanoseconds that the clock of the second of two files is ahead of that of the
    /// first, by the [iterations](crate::iterations) that both have recorded; `None` if there are none.
    pub(super) fn iterations_differ_by(&self, first: usize, second: usize) -> Option<i64> {
        let begins = |file: usize| {
            let file = self.files.get(file)?;
            let mut begins: FxHashMap<u64, Option<i64>> = FxHashMap::default();
            for it in &file.iterations {
                let begin = self.since(file.columns.begin(it.event));
                // A number that a file has twice says nothing.
                let known = begins.entry(it.number).and_modify(|it| *it = None);
                known.or_insert(Some(begin));
            }
            Some(begins)
        };
        let first = begins(first)?;
        let common = begins(second)?.into_iter().filter_map(|(number, second)| {
            let first = (*first.get(&number)?)?;
            Some(second?.saturating_sub(first))
        });
        let mut common: Vec<i64> = common.collect();
        common.sort_unstable();
        common.get(common.len() / 2).copied()
    }

    /// The name of who made the calls of a file.
    pub(super) fn name(&self, file: usize) -> String {
        let rank = self.rank(file);
        rank.map_or_else(|| format!("file {file}"), |it| format!("rank {it}"))
    }

    pub(super) fn rank(&self, file: usize) -> Option<u32> {
        self.files.get(file)?.header.rank
    }

    /// True if several processes of a file do something, by their numbers: beside them are pages of the
    /// profiler and devices.
    pub(super) fn is_of_several(&self, file: usize) -> bool {
        self.files.get(file).is_some_and(FileRead::is_of_several)
    }

    /// True if some tracks of a file are of several processes, though nothing tells whose these are.
    pub(super) fn are_of_several(
        &self,
        file: usize,
        mut tracks: impl Iterator<Item = u32>,
    ) -> bool {
        let Some(file) = self.files.get(file).filter(|it| it.own.is_none()) else {
            return false;
        };
        let pid = |track: u32| file.tracks.get(track as usize).map(|it| &it.pid);
        let first = tracks.next().and_then(pid);
        tracks.any(|it| pid(it) != first)
    }

    /// True if calls are not numbered, and are of several ranks of their file, for all that is known.
    pub(super) fn is_mixed(&self, (file, its): &Sequence) -> bool {
        let is_numbered = |it: &usize| {
            self.call(*file, *it)
                .is_some_and(|it| it.sequence.is_some())
        };
        self.set_back.is_mixed(*file) && !its.iter().all(is_numbered)
    }

    /// A call as it stands in a sequence of its group.
    pub(super) fn item(&self, group: &Group, file: usize, call: usize) -> Option<Item> {
        let What::Collective(operation) = self.call(file, call)?.what else {
            return self.end_of_message(file, call);
        };
        let root = self.root(file, call, operation);
        let root = root.and_then(|it| group.ranks.get(it as usize).copied());
        let is_root = root.is_some() && root == self.rank(file);
        let (is_cause, is_effect) = match operation.class(false) {
            Class::AllToAll => (true, true),
            Class::OneToAll if root.is_some() => (is_root, !is_root),
            Class::AllToOne if root.is_some() => (!is_root, is_root),
            // Of others nothing comes, or it is not known.
            _ if operation == Operation::Alltoallv => {
                let nothing_from = self.call(file, call)?.nothing_from.as_deref();
                (true, nothing_from.is_some_and(<[u32]>::is_empty))
            }
            _ => (false, false),
        };
        let item = self.at(file, self.call(file, call)?.event)?;
        let is_known = !self.is_doubtful(file, call);
        Some(Item {
            signature: self.signature(file, call)?,
            is_cause: is_cause && is_known,
            is_effect: is_effect && is_known,
            ..item
        })
    }

    /// The root of a call, which its own request names, or all requests for such operations of its file, or
    /// for such of its sizes.
    pub(super) fn root(&self, file: usize, call: usize, operation: Operation) -> Option<u32> {
        let it = self.call(file, call)?;
        let requests = || self.files.get(file)?.requests.get(&operation);
        it.root.or_else(|| requests()?.root(it.sizes()))
    }

    /// An end of a message as it stands in the sequence of its channel.
    pub(super) fn end_of_message(&self, file: usize, call: usize) -> Option<Item> {
        let it = self.call(file, call)?;
        let is_known = !self.is_doubtful(file, call);
        let item = Item {
            signature: self.signature(file, call)?,
            is_cause: is_known && matches!(it.what, What::Send(_)),
            is_effect: is_known && matches!(it.what, What::Receive(_)),
            ..self.at(file, it.event)?
        };
        if !is_known {
            return Some(item);
        }
        let other = it.other.and_then(|other| self.at(file, other));
        Some(other.map_or(item, |other| Item {
            begin: item.begin.min(other.begin),
            end: item.end.max(other.end),
            is_cause: true,
            is_effect: true,
            ..item
        }))
    }

    /// A call in which nobody ends before all have begun, of whichever signature.
    pub(super) fn mutual(&self, file: usize, event: u32) -> Option<Item> {
        let item = self.at(file, event)?;
        Some(Item {
            is_cause: true,
            is_effect: true,
            ..item
        })
    }

    /// From when to when an event is; it orders nobody.
    fn at(&self, file: usize, event: u32) -> Option<Item> {
        let columns = &self.files.get(file)?.columns;
        Some(Item {
            signature: 0,
            begin: self.since(columns.begin(event)),
            end: self.since(columns.end(event)),
            is_cause: false,
            is_effect: false,
        })
    }

    /// The iterations of a file as they began: the number of each, and from when to when it lasted.
    pub(super) fn iterations(&self, number: usize) -> Vec<(u64, i64, i64)> {
        let Some(file) = self.files.get(number) else {
            return Vec::new();
        };
        let columns = &file.columns;
        let span = |event: u32| {
            (
                self.since(columns.begin(event)),
                self.since(columns.end(event)),
            )
        };
        let iterations = file.iterations.iter().map(|it| {
            let (begin, end) = span(it.event);
            (it.number, begin, end)
        });
        let mut iterations: Vec<(u64, i64, i64)> = iterations.collect();
        // A clock that was set back shows a later one before an earlier.
        let is_set_back = self.is_set_back(number);
        iterations.sort_unstable_by_key(|it| (if is_set_back { 0 } else { it.1 }, it.0));
        iterations
    }

    /// From when to when a call is.
    pub(super) fn span(&self, file: usize, call: usize) -> Option<(i64, i64)> {
        let item = self.at(file, self.call(file, call)?.event)?;
        Some((item.begin, item.end))
    }

    /// A time from the first of all.
    fn since(&self, time: u64) -> i64 {
        time.wrapping_sub(self.origin) as i64
    }

    /// From when to when a file has events.
    pub(super) fn window(&self, file: usize) -> (i64, i64) {
        let known = self.windows.get(file);
        known.map_or((0, 0), |it| *it.get_or_init(|| self.extent(file)))
    }

    fn extent(&self, file: usize) -> (i64, i64) {
        let span = self.files.get(file).and_then(FileRead::span);
        span.map_or((i64::MAX, i64::MIN), |(begin, end)| {
            (self.since(begin), self.since(end))
        })
    }

    pub(super) fn items(&self, group: &Group, file: usize, calls: &[usize]) -> Vec<Item> {
        let item = |&call: &usize| self.item(group, file, call);
        calls.iter().filter_map(item).collect()
    }

    /// Calls in the order in which they begin.
    pub(super) fn in_order(&self, file: usize, mut calls: Vec<usize>) -> Sequence {
        let columns = self.files.get(file).map(|it| &it.columns);
        calls.sort_by_key(|&call| {
            let event = self.call(file, call).map_or(0, |it| it.event);
            columns.map(|it| (it.begin(event), event))
        });
        if self.is_set_back(file) {
            self.sort_as_counted(file, &mut calls);
        }
        (file, calls)
    }

    /// Puts the calls of one track in the order in which they were started, if all of them are counted.
    fn sort_as_counted(&self, file: usize, calls: &mut [usize]) {
        let counted = |&call: &usize| {
            let (read, call) = (self.files.get(file)?, self.call(file, call)?);
            Some((read.columns.track(call.event), call.counted?))
        };
        let tracks: Option<BTreeSet<u32>> = calls.iter().map(|it| Some(counted(it)?.0)).collect();
        if tracks.is_some_and(|it| it.len() == 1) {
            calls.sort_by_key(counted);
        }
    }

    /// The calls that name their group, by it and file. Ranks can call different groups by
    /// one name: so its members count, too, which are in the header where a call leaves some out.
    pub(super) fn labelled(&self) -> BTreeMap<Label, Vec<Sequence>> {
        let mut labelled: BTreeMap<Label, BTreeMap<usize, Vec<usize>>> = BTreeMap::new();
        for (file, it) in self.files.iter().enumerate() {
            let mut whole: FxHashMap<&Label, Label> = FxHashMap::default();
            for (call, it) in it.calls.iter().enumerate() {
                let Some(label) = it.group.as_ref().filter(|_| it.on != On::Order) else {
                    continue;
                };
                let whole = whole.entry(label);
                let label = whole.or_insert_with(|| self.whole(file, label));
                // Most calls are of a group that is known by then.
                if !labelled.contains_key(label) {
                    labelled.insert(label.clone(), BTreeMap::new());
                }
                if let Some(calls) = labelled.get_mut(label) {
                    calls.entry(file).or_default().push(call);
                }
            }
        }
        let of_label = |(label, files): (Label, BTreeMap<usize, Vec<usize>>)| {
            let sequence = |(file, calls)| self.in_order(file, calls);
            (label, files.into_iter().map(sequence).collect())
        };
        labelled.into_iter().map(of_label).collect()
    }

    /// A label with all members that its file says.
    fn whole(&self, file: usize, label: &Label) -> Label {
        let header = self.files.get(file).map(|it| &it.header);
        let ranks = || header?.ranks(&label.name);
        let ranks = label.members().is_none().then(ranks).flatten();
        Label {
            name: label.name.clone(),
            ranks: ranks.map_or_else(|| label.ranks.clone(), |it| format!("{it:?}")),
        }
    }

    /// True if a group has one member alone, which has nobody to wait for.
    pub(super) fn is_of_one(&self, label: &Label, members: &[Sequence]) -> bool {
        if let Some(ranks) = label.members() {
            return ranks.len() == 1;
        }
        let mut own = members.iter();
        own.all(|(file, calls)| {
            let header = self.files.get(*file).map(|it| &it.header);
            let ranks = header.and_then(|it| it.ranks(&label.name));
            let of_one = |&call: &usize| self.call(*file, call)?.members;
            ranks.is_some_and(|it| it.len() == 1)
                || ranks.is_none() && calls.iter().all(|it| of_one(it) == Some(1))
        })
    }

    /// The group of a label; if nothing says its members, those that name it.
    pub(super) fn group(&self, label: &Label, members: &[Sequence]) -> Group {
        let ranks = label.members().or_else(|| {
            let mut headers = members.iter().filter_map(|(file, _)| self.files.get(*file));
            headers.find_map(|it| it.header.ranks(&label.name).map(<[u32]>::to_vec))
        });
        let those = || {
            let ranks = members.iter().filter_map(|(file, _)| self.rank(*file));
            let mut ranks: Vec<u32> = ranks.collect();
            ranks.sort_unstable();
            ranks
        };
        Group {
            name: label.name.clone(),
            ranks: ranks.unwrap_or_else(those),
        }
    }

    /// Collectives and messages apart.
    pub(super) fn apart(&self, file: usize, calls: Vec<usize>) -> (Sequence, Sequence) {
        let is_collective = |call: &usize| {
            let call = self.call(file, *call);
            call.is_some_and(|it| matches!(it.what, What::Collective(_)))
        };
        let (collectives, messages) = calls.into_iter().partition(is_collective);
        ((file, collectives), (file, messages))
    }
}
