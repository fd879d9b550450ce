//! How many events of each kind a location has.

use retime_model::format::Contents;

use crate::line::Kind;

/// The number of events of each [`Kind`].
#[derive(Clone, Default)]
pub(crate) struct Kinds([u64; Kind::ALL.len()]);

impl Kinds {
    pub(crate) fn add(&mut self, kind: Kind) {
        self.0[kind as usize] += 1;
    }

    pub(crate) fn contents(&self, rest: &[u64]) -> Contents {
        let kinds = (0..).zip(self.0).filter(|(_, count)| *count > 0);
        Contents {
            kinds: kinds.collect(),
            rest: rest.to_owned(),
        }
    }
}
