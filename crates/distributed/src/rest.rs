//! The library's questions to the other parts of a trace, answered by messages.

use std::sync::Arc;

use retime::causality::{EventNode, NeedsWhole, Partial, Reached, Replay, Rest, Slot};
use retime_model::{Cancelled, Timestamp};
use serde::{Deserialize, Serialize};

use crate::distribution::Distribution;
use crate::guess;
use crate::part::Part;
use crate::peers::Broken;
use crate::replay;

/// Bytes, as they are sent.
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&[u8]>::deserialize(deserializer).map(|it| Self(it.to_vec()))
    }
}

/// The next question of the root, if it does not have all it needs.
fn asked(distribution: &Distribution) -> Result<Option<Bytes>, Cancelled> {
    distribution.known(None).ok_or(Cancelled)
}

impl Rest for Part {
    fn domain(&self, location: usize) -> usize {
        self.distribution.owner(location)
    }

    fn is_here(&self, location: usize) -> bool {
        self.distribution.owns(location)
    }

    fn is_first(&self) -> bool {
        self.distribution.is_root()
    }

    fn all_reduce(&self, mine: &mut dyn Partial) {
        self.distribution.all_reduce_partial(mine);
    }

    fn reduce(&self, mine: &mut dyn Partial) {
        self.distribution.reduce_partial(mine);
    }

    fn gather(&self, mine: Vec<u8>) -> Vec<Vec<u8>> {
        let mine = Some(mine).filter(|it| !it.is_empty() && !self.is_first());
        let mine = mine.map(Bytes).into_iter().collect();
        let all = self.distribution.all_to_all(vec![mine]);
        all.into_iter().flatten().map(|it| it.0).collect()
    }

    fn at_root(
        &self,
        answer: &mut dyn FnMut(&[u8]) -> Result<(), Cancelled>,
        work: &mut dyn FnMut() -> Result<Vec<u8>, Cancelled>,
    ) -> Result<Vec<u8>, Cancelled> {
        if self.is_first() {
            let done = work()?;
            self.distribution.known(Some(None::<Bytes>));
            let done = self.distribution.known(Some(Bytes(done)));
            return done.map(|it| it.0).ok_or(Cancelled);
        }
        while let Some(question) = asked(&self.distribution)? {
            answer(&question.0)?;
        }
        let done: Option<Bytes> = self.distribution.known(None);
        done.map(|it| it.0).ok_or(Cancelled)
    }

    fn ask(&self, question: Vec<u8>) {
        self.distribution.known(Some(Some(Bytes(question))));
    }

    fn update_ghosts(&self, times: &mut [Timestamp]) {
        let value = |node: &EventNode| times[node.index()];
        let values = self.sent.iter().map(|to| to.iter().map(value).collect());
        let received = self.distribution.columns_to_all(values.collect());
        for (ghosts, values) in self.ghosts.iter().zip(received) {
            for (node, value) in ghosts.iter().zip(values) {
                times[node.index()] = value;
            }
        }
    }

    fn replay(&self, replay: &mut dyn Replay, guesses: u32) -> Result<(), Cancelled> {
        if guess::settles(self, replay, guesses)? {
            return Ok(());
        }
        replay::drive(self, replay)
    }

    fn of_joined_elsewhere(&self, by_slot: &[i64]) -> Vec<(Slot, i64)> {
        let of = |slots: &Vec<Slot>| slots.iter().map(|it| by_slot[it.index()]).collect();
        let columns = self.owned.iter().map(of);
        let heard = self.distribution.columns_to_all(columns.collect());
        let heard = self.away.iter().zip(heard);
        let heard = heard.flat_map(|(slots, heard)| slots.iter().copied().zip(heard));
        heard.collect()
    }

    fn joins_apart(&self) -> bool {
        self.joins_apart
    }

    fn ask_joined(
        &self,
        of: &[Slot],
        answer: &dyn Fn(Slot) -> Option<Reached>,
    ) -> Vec<(Slot, Option<Reached>)> {
        let (_, size) = self.distribution.place();
        let (mut questions, mut asked) = (vec![Vec::new(); size], vec![Vec::new(); size]);
        for &slot in of {
            if let Some((owner, place)) = self.owner_of(slot) {
                questions[owner].push(place as u32);
                asked[owner].push(slot);
            }
        }
        let questions = self.distribution.columns_to_all(questions).into_iter();
        let answers = self.owned.iter().zip(questions).map(|(of, places)| {
            let slots = places.into_iter().map(|it| of.get(it as usize).copied());
            slots.map(|it| answer(it?)).collect()
        });
        let answers = self.distribution.all_to_all(answers.collect());
        let answered = asked.into_iter().zip(answers);
        answered
            .flat_map(|(asked, answers)| asked.into_iter().zip(answers))
            .collect()
    }

    fn renumbered(
        &self,
        node: &dyn Fn(EventNode) -> EventNode,
        slot: &dyn Fn(Slot) -> Slot,
    ) -> Arc<dyn Rest> {
        let nodes = |of: &Vec<EventNode>| {
            let mut nodes: Vec<EventNode> = of.iter().map(|&it| node(it)).collect();
            nodes.sort_unstable();
            nodes
        };
        let slots = |of: &Vec<Slot>| of.iter().map(|&it| slot(it)).collect();
        Arc::new(Self {
            distribution: self.distribution.clone(),
            sent: self.sent.iter().map(nodes).collect(),
            ghosts: self.ghosts.iter().map(nodes).collect(),
            owned: self.owned.iter().map(slots).collect(),
            away: self.away.iter().map(slots).collect(),
            joins_apart: self.joins_apart,
        })
    }

    fn give_up(&self, why: NeedsWhole) {
        self.distribution.needs_whole(why);
    }

    fn check(&self) -> Result<(), Cancelled> {
        self.distribution.check()
    }

    fn announce(&self, step: &[u8]) {
        self.distribution.announce(step);
    }

    fn stop(&self, is_cancelled: bool) {
        self.distribution.stop(if is_cancelled {
            Broken::Cancelled
        } else {
            Broken::Failed
        });
    }
}
