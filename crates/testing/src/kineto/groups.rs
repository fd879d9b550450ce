//! The process groups of a run.

use super::job::{Among, KinetoRun};

/// A process group.
pub(super) struct Group {
    /// `PyTorch` counts groups over the whole job, or each rank its own.
    pub(super) name: String,
    pub(super) description: &'static str,
    pub(super) ranks: Vec<u32>,
}

impl Group {
    /// Where a rank is in the group.
    pub(super) fn place(&self, rank: u32) -> usize {
        self.ranks.iter().take_while(|&&it| it != rank).count()
    }
}

/// All process groups by what they are for, in the order of [`KINDS`].
pub(super) struct Groups {
    all: Vec<Group>,
    /// Where the groups of each kind end.
    ends: [usize; KINDS.len()],
}

/// For whom there are groups, in their order.
const KINDS: [Among; 5] = [
    Among::World,
    Among::Tensor,
    Among::Data,
    Among::Stages,
    Among::Experts,
];

impl Groups {
    pub(super) fn new(run: &KinetoRun) -> Self {
        let (mut all, mut ends) = (Vec::new(), [0; KINDS.len()]);
        for ((kind, among), end) in KINDS.into_iter().enumerate().zip(&mut ends) {
            for ranks in members(run, among) {
                let number = if run.equal_names { kind } else { all.len() };
                all.push(Group {
                    name: number.to_string(),
                    description: if kind == 0 { "default_pg" } else { "undefined" },
                    ranks,
                });
            }
            *end = all.len();
        }
        Self { all, ends }
    }

    /// The numbers of the groups that a step is taken in.
    pub(super) fn among(&self, among: Among) -> std::ops::Range<usize> {
        let kind = KINDS.iter().take_while(|it| **it != among).count();
        let before = kind.checked_sub(1).map_or(0, |it| self.ends[it]);
        match before..self.ends[kind] {
            none if none.is_empty() && among == Among::Stages => self.among(Among::Data),
            some => some,
        }
    }

    pub(super) fn get(&self, number: usize) -> &Group {
        &self.all[number]
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// The groups that a rank is in, with their numbers.
    pub(super) fn of(&self, rank: u32) -> impl Iterator<Item = (usize, &Group)> {
        self.all
            .iter()
            .enumerate()
            .filter(move |(_, group)| group.ranks.contains(&rank))
    }
}

/// The members of each group of a kind.
fn members(run: &KinetoRun, among: Among) -> Vec<Vec<u32>> {
    let world: Vec<u32> = (0..run.ranks).collect();
    let of_stage = run.ranks.div_ceil(run.stages) as usize;
    let in_parts = |of: &[u32], size: u32| -> Vec<Vec<u32>> {
        of.chunks(size as usize).map(<[u32]>::to_vec).collect()
    };
    let strides = |of: &[u32], by: usize| -> Vec<Vec<u32>> {
        let firsts = 0..by.min(of.len());
        firsts
            .map(|first| of.iter().skip(first).step_by(by).copied().collect())
            .collect()
    };
    match among {
        Among::World => vec![world],
        Among::Tensor => in_parts(&world, run.tensor),
        Among::Data => {
            let stages = world.chunks(of_stage);
            stages
                .flat_map(|it| strides(it, run.tensor as usize))
                .collect()
        }
        Among::Stages if run.stages > 1 => strides(&world, of_stage),
        Among::Experts if run.experts > 1 => {
            let data = members(run, Among::Data);
            data.iter()
                .flat_map(|it| in_parts(it, run.experts))
                .collect()
        }
        Among::Stages | Among::Experts => Vec::new(),
    }
}
