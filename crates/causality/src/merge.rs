//! Values that are found in parts, and put together.
//!
//! An algorithm that has to look at all of a trace looks at the events that are here, and
//! returns a plain value. Values of several parts become one by [`Merge::merge`], which is
//! associative and comes to the same however a trace is cut. The types of this file are the
//! usual ways to put two values together:
//!
//! ```
//! use retime_causality::merge::{Any, Least, Merge, Sum};
//! let mut found = vec![(Sum(3), Least(Some(7))), (Sum(1), Least(None))];
//! found.merge(vec![(Sum(4), Least(None)), (Sum(0), Least(Some(2)))]);
//! assert_eq!(found, [(Sum(7), Least(Some(7))), (Sum(1), Least(Some(2)))]);
//! let mut holds = Any(false);
//! holds.merge(Any(true));
//! assert!(holds.0);
//! ```

use std::ops::AddAssign;

use retime_model::Defects;
use serde::{Deserialize, Serialize};

/// A value that is found in a part of a trace.
pub trait Merge {
    /// Adds what another part has found.
    fn merge(&mut self, other: Self);
}

/// A count or a length, to be added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum<T>(pub T);

/// True if it holds in all parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct All(pub bool);

/// True if it holds in any part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Any(pub bool);

/// The least of all values, if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Least<T>(pub Option<T>);

/// The largest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Most<T>(pub T);

/// A value that at most one part knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known<T>(pub Option<T>);

/// Values one after the other, in no certain order of parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed<T>(pub Vec<T>);

impl<T: AddAssign> Merge for Sum<T> {
    fn merge(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Merge for All {
    fn merge(&mut self, other: Self) {
        self.0 &= other.0;
    }
}

impl Merge for Any {
    fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl<T: Ord> Merge for Least<T> {
    fn merge(&mut self, other: Self) {
        self.0 = self.0.take().into_iter().chain(other.0).min();
    }
}

impl<T: Ord> Merge for Most<T> {
    fn merge(&mut self, other: Self) {
        if other.0 > self.0 {
            self.0 = other.0;
        }
    }
}

impl<T> Merge for Known<T> {
    fn merge(&mut self, other: Self) {
        self.0 = self.0.take().or(other.0);
    }
}

impl<T> Merge for Listed<T> {
    fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl Merge for Defects {
    fn merge(&mut self, other: Self) {
        Self::merge(self, other);
    }
}

impl Merge for () {
    fn merge(&mut self, (): Self) {}
}

impl<A: Merge, B: Merge> Merge for (A, B) {
    fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
        self.1.merge(other.1);
    }
}

/// Place by place.
impl<T: Merge> Merge for Vec<T> {
    fn merge(&mut self, other: Self) {
        for (own, other) in self.iter_mut().zip(other) {
            own.merge(other);
        }
    }
}
