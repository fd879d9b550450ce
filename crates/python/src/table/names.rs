//! Names in dictionaries: which number stands for which.
//!
//! Lanes that read events in parallel look numbers up in what is known, and note names
//! that are new to them; between two rounds these get numbers, lane by lane, so that the
//! same trace gives the same numbers for any number of threads. A dictionary only grows:
//! what a number stands for in one batch it stands for in all later ones.

use std::collections::HashMap;

use arrow_array::ArrayRef;
use retime::format::Trace;

use super::columns::dictionary;

/// Regions looked up before the first event; more are numbered when they are met.
const AHEAD: u32 = 1 << 20;

/// Different names with their numbers.
#[derive(Default)]
pub(super) struct Names {
    numbers: HashMap<String, i32>,
    texts: Vec<String>,
    /// Made when it is wanted.
    array: Option<ArrayRef>,
}

impl Names {
    /// The number of a name.
    pub(super) fn number(&mut self, name: &str) -> i32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.texts.len() as i32;
        self.numbers.insert(name.to_owned(), number);
        self.texts.push(name.to_owned());
        self.array = None;
        number
    }

    /// All of them, by number.
    pub(super) fn array(&mut self) -> ArrayRef {
        let texts = &self.texts;
        self.array.get_or_insert_with(|| dictionary(texts)).clone()
    }
}

/// The regions of a trace.
#[derive(Default)]
pub(super) struct Regions {
    names: Names,
    /// The number of each region's name, by id, as far as ids follow each other from 0 on; several
    /// regions may have one name.
    first: Vec<i32>,
    others: HashMap<u32, i32>,
}

impl Regions {
    /// Names whose ids follow each other from 0 on, as they mostly do.
    pub(super) fn of(trace: &dyn Trace) -> Self {
        let mut all = Self::default();
        for id in 0..AHEAD {
            let Some(name) = trace.region(id) else {
                break;
            };
            let number = all.names.number(&name);
            all.first.push(number);
        }
        all
    }

    /// The number of a region, if it has one yet.
    pub(super) fn known(&self, id: u32) -> Option<i32> {
        let first = self.first.get(id as usize).copied();
        first.or_else(|| self.others.get(&id).copied())
    }

    /// The number of a region that had none.
    pub(super) fn number(&mut self, trace: &dyn Trace, id: u32) -> i32 {
        if let Some(number) = self.known(id) {
            return number;
        }
        let name = trace.region(id);
        let number = match name {
            Some(name) => self.names.number(&name),
            None => self.names.number(&format!("region {id}")),
        };
        self.others.insert(id, number);
        number
    }

    /// Their names, by number.
    pub(super) fn array(&mut self) -> ArrayRef {
        self.names.array()
    }
}
