//! The names of the nodes, operations and participants of a trace.
//!
//! Each is a number of four bytes, since columns of them are as long as the trace
//! has events, and a type of its own, so that none is taken for another. Those of
//! one kind that follow each other are [`Ids`]; where one may be missing, a column
//! holds [`PackedOption`]s, which take no more room.
//!
//! ```
//! use retime_causality::{EventNode, Ids, PackedOption};
//! let nodes = Ids::new(EventNode(3), EventNode(6));
//! assert_eq!((nodes.len(), nodes.first(), nodes.get(2)), (3, Some(EventNode(3)), Some(EventNode(5))));
//! let stamps = [0, 0, 0, 30, 40, 50];
//! assert_eq!(nodes.clone().map(|node| stamps[node.index()]).sum::<i32>(), 120);
//! assert_eq!(stamps[nodes.range()], [30, 40, 50]);
//!
//! let some = PackedOption::from(EventNode(4));
//! assert_eq!((some.get(), PackedOption::<EventNode>::NONE.get()), (Some(EventNode(4)), None));
//! assert_eq!(size_of_val(&some), 4);
//! ```

use std::marker::PhantomData;
use std::ops::Range;

use rayon::iter::{IntoParallelIterator, Map, ParallelIterator};

/// A number of things of one kind, from 0.
pub trait Id: Copy + Send + Sync {
    /// The thing of a number.
    fn of_number(number: u32) -> Self;

    /// Its number.
    fn number(self) -> u32;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// Its place in columns.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            #[inline]
            fn of_number(number: u32) -> Self {
                Self(number)
            }

            #[inline]
            fn number(self) -> u32 {
                self.0
            }
        }
    )*};
}

ids! {
    /// A *node*: an event that takes part in happened-before, by its number over
    /// the whole trace. Those of one location follow each other.
    EventNode;
    /// A collective operation, by its number over the whole trace.
    Instance;
    /// One participant's part in one collective operation, by its number over the
    /// whole trace. Those of one operation follow each other, in order of ranks.
    Slot;
}

/// Some that follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ids<I> {
    numbers: Range<u32>,
    of: PhantomData<I>,
}

impl<I: Id> Ids<I> {
    /// From `start` up to, and without, `end`.
    #[inline]
    pub fn new(start: I, end: I) -> Self {
        Self {
            numbers: start.number()..end.number(),
            of: PhantomData,
        }
    }

    /// The first so many; a column holds no more than there are numbers.
    pub(super) const fn of_column(length: usize) -> Self {
        Self {
            numbers: 0..length as u32,
            of: PhantomData,
        }
    }

    /// How many are left.
    #[inline]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// True if none is left.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The first of them.
    #[inline]
    pub fn first(&self) -> Option<I> {
        (!self.is_empty()).then(|| I::of_number(self.numbers.start))
    }

    /// The one so many after the first.
    #[inline]
    pub fn get(&self, place: usize) -> Option<I> {
        (place < self.len()).then(|| I::of_number(self.numbers.start + place as u32))
    }

    /// The id that is as far from the last as `id`, one of them, is from the first.
    #[inline]
    pub fn mirrored(&self, id: I) -> I {
        I::of_number(self.numbers.start + (self.numbers.end - 1 - id.number()))
    }

    /// True if `id` is one of them.
    #[inline]
    pub fn contains(&self, id: I) -> bool {
        self.numbers.contains(&id.number())
    }

    /// Their places in columns.
    #[inline]
    pub const fn range(&self) -> Range<usize> {
        self.numbers.start as usize..self.numbers.end as usize
    }

    /// These ids, so many at a time.
    pub fn chunks(&self, size: u32) -> impl ExactSizeIterator<Item = Self> + use<I> {
        let Range { start, end } = self.numbers;
        let starts = (start..end).step_by(size as usize);
        starts.map(move |start| Self {
            numbers: start..end.min(start.saturating_add(size)),
            of: PhantomData,
        })
    }
}

impl<I: Id> Iterator for Ids<I> {
    type Item = I;

    #[inline]
    fn next(&mut self) -> Option<I> {
        self.numbers.next().map(I::of_number)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

impl<I: Id> DoubleEndedIterator for Ids<I> {
    #[inline]
    fn next_back(&mut self) -> Option<I> {
        self.numbers.next_back().map(I::of_number)
    }
}

impl<I: Id> ExactSizeIterator for Ids<I> {}

impl<I: Id> IntoParallelIterator for Ids<I> {
    type Item = I;
    type Iter = Map<rayon::range::Iter<u32>, fn(u32) -> I>;

    fn into_par_iter(self) -> Self::Iter {
        self.numbers.into_par_iter().map(I::of_number)
    }
}

/// One or none, in four bytes; none comes after all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackedOption<I> {
    /// The largest number stands for none.
    number: u32,
    of: PhantomData<I>,
}

impl<I: Id> Default for PackedOption<I> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<I: Id> PackedOption<I> {
    /// None.
    pub const NONE: Self = Self {
        number: u32::MAX,
        of: PhantomData,
    };

    /// The id, unpacked.
    #[inline]
    pub fn get(self) -> Option<I> {
        (self.number != u32::MAX).then(|| I::of_number(self.number))
    }

    /// True if it is one.
    #[inline]
    pub const fn is_some(self) -> bool {
        self.number != u32::MAX
    }
}

impl<I: Id> From<I> for PackedOption<I> {
    #[inline]
    fn from(id: I) -> Self {
        Self {
            number: id.number(),
            of: PhantomData,
        }
    }
}

impl<I: Id> From<Option<I>> for PackedOption<I> {
    #[inline]
    fn from(id: Option<I>) -> Self {
        id.map_or(Self::NONE, Self::from)
    }
}
