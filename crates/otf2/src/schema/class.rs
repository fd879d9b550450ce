//! The classes of things that references refer to.

use crate::enums::{MappingType, Type};

/// The class of things that a reference refers to. The first fifteen, in this order, are the
/// classes of mapping tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)] // The names are those of the definitions.
pub enum Class {
    String,
    Attribute,
    Location,
    Region,
    Group,
    Metric,
    Comm,
    Parameter,
    RmaWin,
    SourceCodeLocation,
    CallingContext,
    InterruptGenerator,
    IoFile,
    IoHandle,
    LocationGroup,
    SystemTreeNode,
    Callpath,
    MetricMember,
    CartDimension,
    CartTopology,
    IoParadigm,
}

/// Number of classes that have mapping tables.
pub const MAPPED_CLASSES: usize = Class::LocationGroup as usize + 1;

impl Class {
    /// The class that mapping tables of this type are for.
    pub const fn of_mapping(mapping: MappingType) -> Option<Self> {
        // The types that are references have the same order.
        Self::of_type(Type(mapping.0.saturating_add(Type::STRING.0)))
    }

    /// The class that values of this type refer to.
    pub const fn of_type(value: Type) -> Option<Self> {
        Some(match value {
            Type::STRING => Self::String,
            Type::ATTRIBUTE => Self::Attribute,
            Type::LOCATION => Self::Location,
            Type::REGION => Self::Region,
            Type::GROUP => Self::Group,
            Type::METRIC => Self::Metric,
            Type::COMM => Self::Comm,
            Type::PARAMETER => Self::Parameter,
            Type::RMA_WIN => Self::RmaWin,
            Type::SOURCE_CODE_LOCATION => Self::SourceCodeLocation,
            Type::CALLING_CONTEXT => Self::CallingContext,
            Type::INTERRUPT_GENERATOR => Self::InterruptGenerator,
            Type::IO_FILE => Self::IoFile,
            Type::IO_HANDLE => Self::IoHandle,
            Type::LOCATION_GROUP => Self::LocationGroup,
            _ => return None,
        })
    }
}

/// The largest id that a reference of this class can hold.
pub(crate) const fn id_mask(class: Class) -> u64 {
    match class {
        Class::Location => u64::MAX,
        _ => u32::MAX as u64,
    }
}
