//! Which process groups of a rank may run gloo.
//!
//! PyTorch lists all groups that a rank is in, with what each runs (`backend_config`). Where that
//! is not said, it is what the job runs (`backend`): in a job of NCCL, the group of all ranks
//! does not run gloo, and none that its kernels name.
//!
//! A list that may lack a group of the rank says nothing about threads, which could be of that:
//!
//! - one that Kineto made of the kernels that it recorded;
//! - one without a group that a kernel names, or that another rank says this one is in;
//! - where all ranks together list fewer groups than one of them counts, or than their numbers
//!   say.

use std::collections::BTreeSet;

use super::calls::{Calls, Group};
use super::doubt::Doubt;
use crate::call::{Label, On};
use crate::header::{Header, HeaderGroup, Runs};

/// The groups that may run gloo, by file, in the order in which they were made.
pub(super) struct Candidates(Vec<Result<Vec<Group>, Doubt>>);

impl Candidates {
    pub(super) fn of(calls: &Calls<'_>) -> Self {
        let headers: Vec<&Header> = calls.files.iter().map(|it| &it.header).collect();
        let named = named(calls);
        if headers.iter().all(|it| it.groups.is_empty()) {
            let of_all = of_all(calls, &headers, named.is_empty());
            return Self(vec![of_all; headers.len()]);
        }
        let named_groups: BTreeSet<&HeaderGroup> = named
            .iter()
            .filter_map(|(file, label)| {
                let groups = &headers.get(*file)?.groups;
                groups.iter().find(|it| it.name == label.name)
            })
            .collect();
        let lists = Lists::of(&headers);
        let of_file = |(file, header): (usize, &&Header)| {
            let is_unlisted = |(of, label): &(usize, &Label)| {
                *of == file && header.groups.iter().all(|it| it.name != label.name)
            };
            if header.is_of_kernels {
                return Err(Doubt::OfKernels);
            }
            if lists.lack_one_of(header) || named.iter().any(is_unlisted) {
                return Err(Doubt::Fewer);
            }
            let groups = header.groups.iter().enumerate();
            let groups = groups.filter(|(place, group)| {
                let is_named = named_groups.contains(group);
                may_run_gloo(header, *place, group, is_named)
            });
            let groups: Vec<Group> = groups.map(|it| group(it.1)).collect();
            if groups.is_empty() {
                return Err(Doubt::NoneRuns);
            }
            Ok(groups)
        };
        Self(headers.iter().enumerate().map(of_file).collect())
    }

    pub(super) fn of_file(&self, file: usize) -> Result<&[Group], Doubt> {
        match self.0.get(file) {
            Some(Ok(groups)) => Ok(groups),
            Some(Err(doubt)) => Err(*doubt),
            None => Err(Doubt::NoneRuns),
        }
    }
}

fn group(it: &HeaderGroup) -> Group {
    Group {
        name: it.name.clone(),
        ranks: it.ranks.clone(),
    }
}

/// All ranks as one group, where no header lists any: older versions do not. If anything tells
/// of other groups, calls can be of these.
fn of_all(calls: &Calls<'_>, headers: &[&Header], is_alone: bool) -> Result<Vec<Group>, Doubt> {
    let is_whole = |it: &&Header| {
        it.runs != Runs::Others && !it.is_of_kernels && it.count.is_none_or(|it| it <= 1)
    };
    if !is_alone || !headers.iter().all(is_whole) {
        return Err(Doubt::NoneRuns);
    }
    let has_threads = |file: &usize| {
        let file = calls.files.get(*file);
        file.is_some_and(|it| it.calls.iter().any(|it| it.group.is_none()))
    };
    let files = (0..headers.len()).filter(has_threads);
    Ok(vec![Group {
        name: String::new(),
        ranks: files.filter_map(|file| calls.rank(file)).collect(),
    }])
}

/// The groups that kernels name, with the file of each.
fn named<'a>(calls: &Calls<'a>) -> BTreeSet<(usize, &'a Label)> {
    let files = calls.files.iter().enumerate();
    let named = files.flat_map(|(file, it)| {
        let on_streams = it.calls.iter().filter(|it| it.on == On::Stream);
        let labels = on_streams.filter_map(|it| it.group.as_ref());
        // Without ranks a name is one that was found for kernels that name none.
        labels
            .filter(|it| !it.ranks.is_empty())
            .map(move |it| (file, it))
    });
    named.collect()
}

/// True if a group of a header, at this place there, may run gloo.
fn may_run_gloo(header: &Header, place: usize, group: &HeaderGroup, is_named: bool) -> bool {
    let is_default = || {
        let size = u32::try_from(group.ranks.len()).ok();
        place == 0 && size == header.world_size
    };
    match (group.runs, header.runs) {
        (Runs::Others, _) => false,
        (Runs::Unsaid, Runs::Others) => !is_named && !is_default(),
        _ => true,
    }
}

/// The lists of groups of all files.
struct Lists<'a> {
    /// All groups that are listed.
    all: BTreeSet<(&'a str, &'a [u32])>,
    /// True if some header counts more.
    are_fewer: bool,
}

impl<'a> Lists<'a> {
    fn of(headers: &[&'a Header]) -> Self {
        let groups = headers.iter().flat_map(|it| &it.groups);
        let all: BTreeSet<(&str, &[u32])> = groups.map(|it| (&*it.name, &*it.ranks)).collect();
        // Groups are called by numbers from 0; those that some ranks make alone have other names,
        // and are not counted.
        let numbers = all.iter().filter_map(|it| it.0.parse::<usize>().ok());
        let numbers: Vec<usize> = numbers.collect();
        let listed = if numbers.is_empty() {
            all.len()
        } else {
            numbers.len()
        };
        let counted = headers.iter().filter_map(|it| it.count).max();
        let last = numbers.iter().max().copied();
        let are_fewer =
            counted.is_some_and(|it| it > listed) || last.is_some_and(|it| it >= listed);
        Self { all, are_fewer }
    }

    /// True if a header may lack a group that its rank is in.
    fn lack_one_of(&self, header: &Header) -> bool {
        let Some(rank) = header.rank else {
            return self.are_fewer;
        };
        let own: BTreeSet<(&str, &[u32])> = header
            .groups
            .iter()
            .map(|it| (&*it.name, &*it.ranks))
            .collect();
        let lacks = |it: &&(&str, &[u32])| it.1.contains(&rank) && !own.contains(*it);
        self.are_fewer || self.all.iter().any(|it| lacks(&it))
    }
}
