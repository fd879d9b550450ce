//! Defects of definitions that do not make them useless.
//!
//! The order of definitions means nothing, so a reference can be judged only
//! when all are known. Each distinct target is kept once, with the field that
//! named it first.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display, Formatter};

use crate::fields::FieldValue;
use crate::refs::CommRef;
use crate::schema::{Class, Role, Wire};

/// How many defects are kept; the rest is only counted.
const KEPT: usize = 1000;

/// Something in the definitions that a report should mention.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionDefect {
    /// An id is defined more than once.
    Duplicate {
        /// The kind of definition.
        record: &'static str,
        /// The id.
        id: u64,
    },
    /// A reference to something that is not defined.
    Dangling {
        /// The kind of definition that refers to it.
        record: &'static str,
        /// The field that does.
        field: &'static str,
        /// The kind of definition that it should refer to.
        class: Class,
        /// The id that is not defined.
        target: u64,
    },
    /// There are no clock properties.
    NoClock,
    /// There is more than one clock properties record; the first one counts.
    SeveralClocks,
    /// A communicator whose ranks cannot be related to locations.
    UnresolvedComm {
        /// The communicator.
        comm: CommRef,
    },
}

impl Display for DefinitionDefect {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { record, id } => write!(f, "{record} {id} is defined twice"),
            Self::Dangling {
                record,
                field,
                class,
                target,
            } => write!(
                f,
                "{record}.{field} refers to {class:?} {target}, which is not defined"
            ),
            Self::NoClock => f.write_str("there is no ClockProperties record"),
            Self::SeveralClocks => f.write_str("there are several ClockProperties records"),
            Self::UnresolvedComm { comm } => write!(
                f,
                "the ranks of communicator {} cannot be related to locations",
                comm.0
            ),
        }
    }
}

/// The first defects, and the number of all.
#[derive(Clone, Debug, Default)]
pub struct DefinitionDefects {
    kept: Vec<DefinitionDefect>,
    total: u64,
}

impl DefinitionDefects {
    pub(super) fn add(&mut self, defect: DefinitionDefect) {
        self.total += 1;
        if self.kept.len() < KEPT {
            self.kept.push(defect);
        }
    }

    /// The first thousand.
    pub fn first(&self) -> &[DefinitionDefect] {
        &self.kept
    }

    /// How many there are.
    pub const fn total(&self) -> u64 {
        self.total
    }
}

/// Which ids are defined and which are referred to.
#[derive(Default)]
pub(super) struct References {
    defined: HashSet<(Class, u64)>,
    wanted: HashMap<(Class, u64), (&'static str, &'static str)>,
}

impl References {
    pub(super) fn note(&mut self, record: &'static str, field: &FieldValue<'_>) {
        let (Some(class), Some(id)) = (field.class, field.value.unsigned()) else {
            return;
        };
        if field.field.role == Role::Defines {
            self.defined.insert((class, id));
        } else if id != undefined(field.field.wire, class) {
            self.want(class, id, record, field.name());
        }
    }

    pub(super) fn want(
        &mut self,
        class: Class,
        id: u64,
        record: &'static str,
        field: &'static str,
    ) {
        self.wanted.entry((class, id)).or_insert((record, field));
    }

    pub(super) fn report(self, defects: &mut DefinitionDefects) {
        let mut dangling: Vec<_> = self
            .wanted
            .into_iter()
            .filter(|(target, _)| !self.defined.contains(target))
            .collect();
        dangling.sort_unstable();
        for ((class, target), (record, field)) in dangling {
            defects.add(DefinitionDefect::Dangling {
                record,
                field,
                class,
                target,
            });
        }
    }
}

/// The value that means "nothing" in a reference.
const fn undefined(wire: Wire, class: Class) -> u64 {
    match (wire, class) {
        (Wire::U8, _) => u8::MAX as u64,
        (_, Class::Location) => u64::MAX,
        _ => u32::MAX as u64,
    }
}
