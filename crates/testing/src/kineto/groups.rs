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

/// All process groups: everybody, the neighbours, and the strides.
pub(super) struct Groups {
    all: Vec<Group>,
    tensor: usize,
}

impl Groups {
    pub(super) fn new(run: &KinetoRun) -> Self {
        let world: Vec<u32> = (0..run.ranks).collect();
        let tensor: Vec<Vec<u32>> = world
            .chunks(run.tensor as usize)
            .map(<[u32]>::to_vec)
            .collect();
        let data = (0..run.tensor.min(run.ranks))
            .map(|first| (first..run.ranks).step_by(run.tensor as usize).collect());
        let count = tensor.len();
        let kind_of = |index: usize| match index {
            0 => 0,
            _ if index <= count => 1,
            _ => 2,
        };
        let all = std::iter::once(world)
            .chain(tensor)
            .chain(data)
            .enumerate()
            .map(|(index, ranks)| Group {
                name: if run.equal_names {
                    kind_of(index).to_string()
                } else {
                    index.to_string()
                },
                description: if index == 0 {
                    "default_pg"
                } else {
                    "undefined"
                },
                ranks,
            })
            .collect();
        Self { all, tensor: count }
    }

    /// The numbers of the groups that a step is taken in.
    pub(super) fn among(&self, among: Among) -> std::ops::Range<usize> {
        match among {
            Among::World => 0..1,
            Among::Tensor => 1..1 + self.tensor,
            Among::Data => 1 + self.tensor..self.all.len(),
        }
    }

    pub(super) fn get(&self, number: usize) -> &Group {
        &self.all[number]
    }

    /// The groups that a rank is in, with their numbers.
    pub(super) fn of(&self, rank: u32) -> impl Iterator<Item = (usize, &Group)> {
        self.all
            .iter()
            .enumerate()
            .filter(move |(_, group)| group.ranks.contains(&rank))
    }
}
