//! Explanations of the effects of arrows, in sentences, for a page that nobody answers questions of.
//!
//! ```text
//! recorded as   message of 256 bytes from Rank 2 with tag 3 in WORLD: number 13,158 of 16,448 ..
//! texts         ["message of ", " bytes from Rank ", " with tag ", .., " of ", ..]
//! the sentence  "7 256 2 3 13,158 16,448"
//! ```
//!
//! Sentences about thousands of events differ in little but their numbers, so that of each what stands
//! around the numbers is kept once, and of the event the number of that text and its numbers.

use std::collections::BTreeMap;

use retime::causality::Place;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::View;
use crate::lanes::Lanes;

/// Bytes that all texts may take; `retime explain` tells what found no room.
const TEXTS: usize = 96 * 1024;
/// Bytes that the sentences of all events may take.
const SENTENCES: usize = 400 * 1024;

/// The explanation of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Its records.
    pub recorded_as: Vec<String>,
    /// The rule by which its causes were found.
    pub rule: Option<&'static str>,
}

/// The explanations of the effects of all arrows of a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Explained {
    /// The parts of each text, between which the numbers of a sentence stand.
    texts: Vec<Vec<String>>,
    /// Per event, named by its lane and number: its records and the rule, each as the number of its text and its
    /// numbers.
    events: BTreeMap<String, (Vec<String>, Option<String>)>,
    #[serde(skip)]
    numbers: FxHashMap<Vec<String>, usize>,
    #[serde(skip)]
    bytes: (usize, usize),
}

/// The effects of all arrows, by location and number: their lane beside each.
pub(crate) fn effects(views: &[View], lanes: &Lanes) -> Vec<(Place, usize)> {
    let messages = views.iter().flat_map(|it| &it.arrows.messages);
    let messages = messages.map(|it| (it.1.lane, it.1.at.2));
    let operations = views.iter().flat_map(|it| &it.arrows.operations);
    let members = operations.flat_map(|it| &it.0);
    let members = members.filter_map(|it| Some((it.0, it.2?.2)));
    let place = |(lane, event): (usize, u64)| {
        let location = lanes.shown.get(lane)?.location;
        Some((Place { location, event }, lane))
    };
    let mut all: Vec<_> = messages.chain(members).filter_map(place).collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl Explained {
    /// Takes up what is said of an event, as far as there is room.
    pub(crate) fn add(&mut self, lane: usize, event: u64, said: &Explanation) {
        let recorded = said.recorded_as.iter().map(|it| self.sentence(it));
        let Some(recorded) = recorded.collect::<Option<Vec<String>>>() else {
            return;
        };
        let rule = said.rule.and_then(|it| self.sentence(it));
        let bytes = recorded.iter().chain(&rule).map(|it| it.len() + 3);
        self.bytes.1 += bytes.sum::<usize>() + 16;
        if self.bytes.1 <= SENTENCES {
            let place = format!("{lane}:{event}");
            self.events.insert(place, (recorded, rule));
        }
    }

    /// The number of the text of a sentence and its numbers; `None` if there is no room.
    fn sentence(&mut self, sentence: &str) -> Option<String> {
        let (text, numbers) = apart(sentence);
        let number = if let Some(&known) = self.numbers.get(&text) {
            known
        } else {
            self.bytes.0 += text.iter().map(|it| it.len() + 3).sum::<usize>();
            if self.bytes.0 > TEXTS {
                return None;
            }
            self.texts.push(text.clone());
            self.numbers.insert(text, self.texts.len() - 1);
            self.texts.len() - 1
        };
        let words = [number.to_string()].into_iter().chain(numbers);
        Some(words.collect::<Vec<_>>().join(" "))
    }
}

/// The parts of a sentence around its numbers, and the numbers, one less than parts.
fn apart(sentence: &str) -> (Vec<String>, Vec<String>) {
    let is_number = |c: char, before: Option<char>| {
        c.is_ascii_digit() || (c == ',' && before.is_some_and(|it| it.is_ascii_digit()))
    };
    let (mut text, mut numbers) = (vec![String::new()], Vec::new());
    let mut before = None;
    for c in sentence.chars() {
        let was_number = before.is_some();
        if is_number(c, before) {
            if !was_number {
                numbers.push(String::new());
                text.push(String::new());
            }
            numbers.last_mut().into_iter().for_each(|it| it.push(c));
            before = Some(c);
        } else {
            text.last_mut().into_iter().for_each(|it| it.push(c));
            before = None;
        }
    }
    (text, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_sentence_is_its_text_with_its_numbers(sentence in "[a-c0-9, ]{0,20}") {
            let (text, numbers) = apart(&sentence);
            prop_assert_eq!(text.len(), numbers.len() + 1);
            let numbers = numbers.iter().map(String::as_str).chain([""]);
            let again: String = text.iter().map(String::as_str).zip(numbers).flat_map(|it| [it.0, it.1]).collect();
            prop_assert_eq!(again, sentence);
        }
    }

    #[test]
    fn sentences_that_differ_in_numbers_share_their_text_and_room_is_limited() {
        let mut explained = Explained::default();
        for event in 0..30_000 {
            let said = Explanation {
                recorded_as: vec![format!("number {event} of 16,448 from Rank 07")],
                rule: Some("in order"),
            };
            explained.add(3, event, &said);
        }
        assert_eq!(explained.texts.len(), 2);
        let first = (vec!["0 5 16,448 07".into()], Some("1".into()));
        assert_eq!(explained.events["3:5"], first);
        assert!(serde_json::to_string(&explained).unwrap().len() < SENTENCES + TEXTS);
        assert!(explained.events.len() > 10_000);

        let said = Explanation {
            recorded_as: vec!["x".repeat(TEXTS)],
            rule: None,
        };
        explained.add(4, 0, &said);
        assert!(!explained.events.contains_key("4:0"));
    }
}
