//! References to definitions.
//!
//! A handle wraps the number by which records refer to a definition.
//! [`Definitions`](super::Definitions) hands them out; a test that needs a
//! certain number, a local id for instance, may make one up.

macro_rules! handle {
    ($(#[$doc:meta] $name:ident,)*) => {$(
        #[$doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);
    )*};
}

handle! {
    /// A text.
    StringRef,
    /// An attribute of events.
    AttributeRef,
    /// A node of the system tree: a machine, a compute node.
    SystemTreeNodeRef,
    /// A group of locations: a process.
    LocationGroupRef,
    /// A region of code.
    RegionRef,
    /// A group of locations, ranks or other things.
    GroupRef,
    /// A communicator, or an intercommunicator.
    CommRef,
    /// A metric class or instance.
    MetricRef,
    /// A parameter.
    ParameterRef,
}

/// The number that stands for a reference to nothing.
pub(super) const UNDEFINED: u32 = u32::MAX;
