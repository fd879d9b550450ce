//! References to definitions.
//!
//! A reference wraps the number by which records name a definition, so that a
//! region cannot be taken for a communicator. [`DefinitionsWriter`] hands them
//! out, events and definitions that are read hold them.
//!
//! Ids of locations are plain `u64`: whoever records a trace chooses them, and
//! they name files.
//!
//! [`DefinitionsWriter`]: crate::writer::DefinitionsWriter

use crate::schema::Class;

macro_rules! references {
    ($($(#[$doc:meta])* $name:ident($number:ident) = $class:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $number);

        impl $name {
            /// A reference to nothing.
            pub const UNDEFINED: Self = Self($number::MAX);

            /// The class of the definitions it refers to.
            pub const CLASS: Class = Class::$class;

            /// From the number in a record, which is not wider.
            #[allow(dead_code)] // Not all kinds come from plain numbers.
            pub(crate) const fn new(number: u64) -> Self {
                Self(number as $number)
            }

            /// True if it refers to anything.
            pub const fn is_defined(self) -> bool {
                self.0 != $number::MAX
            }

            /// This reference, or `None` if it refers to nothing.
            pub fn defined(self) -> Option<Self> {
                self.is_defined().then_some(self)
            }
        }

        impl From<$name> for u64 {
            fn from(reference: $name) -> Self {
                reference.0.into()
            }
        }
    )*};
}

references! {
    /// A text.
    StringRef(u32) = String,
    /// An attribute of events.
    AttributeRef(u32) = Attribute,
    /// A node of the system tree: a machine, a compute node.
    SystemTreeNodeRef(u32) = SystemTreeNode,
    /// A group of locations: a process.
    LocationGroupRef(u32) = LocationGroup,
    /// A region of code.
    RegionRef(u32) = Region,
    /// A group of locations, ranks or other things.
    GroupRef(u32) = Group,
    /// A communicator, or an inter-communicator.
    CommRef(u32) = Comm,
    /// A metric class or instance.
    MetricRef(u32) = Metric,
    /// A member of metric classes.
    MetricMemberRef(u32) = MetricMember,
    /// A parameter.
    ParameterRef(u32) = Parameter,
    /// A window for one-sided communication.
    RmaWinRef(u32) = RmaWin,
    /// A place in the source code.
    SourceCodeLocationRef(u32) = SourceCodeLocation,
    /// A calling context.
    CallingContextRef(u32) = CallingContext,
    /// A source of the interrupts at which a program is sampled.
    InterruptGeneratorRef(u32) = InterruptGenerator,
    /// A file or directory.
    IoFileRef(u32) = IoFile,
    /// A file handle.
    IoHandleRef(u32) = IoHandle,
    /// A way to access files.
    IoParadigmRef(u8) = IoParadigm,
}
