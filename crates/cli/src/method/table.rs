//! The methods that the command knows.

use std::sync::OnceLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use retime::pipeline::Algorithm;
use retime_methods::METHODS;

use crate::table::{BadTable, Table, check};

static KNOWN: Table<&dyn Algorithm> = Table::new(METHODS);

/// All methods; the first is the default.
pub(crate) fn methods() -> &'static [&'static dyn Algorithm] {
    KNOWN.all()
}

/// The method of that name.
pub(crate) fn named(name: &str) -> Option<&'static dyn Algorithm> {
    methods().iter().copied().find(|it| it.name() == name)
}

/// Replaces the methods, before a command line is read.
pub(crate) fn give(methods: &[&'static dyn Algorithm]) -> Result<(), BadTable> {
    check("methods", methods.iter().map(|it| it.name()))?;
    if KNOWN.give(methods) {
        Ok(())
    } else {
        Err(BadTable::Late)
    }
}

/// A method by its name on the command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MethodOption(pub(crate) &'static dyn Algorithm);

impl Default for MethodOption {
    fn default() -> Self {
        Self(methods()[0])
    }
}

impl ValueEnum for MethodOption {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: OnceLock<Vec<MethodOption>> = OnceLock::new();
        ALL.get_or_init(|| methods().iter().copied().map(MethodOption).collect())
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.help()))
    }
}
