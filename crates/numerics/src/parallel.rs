//! One question to many, answered by all threads.
//!
//! Answers come in the order of the questions, and of several errors the first in that order is
//! returned, so results do not depend on threads. A chain of [`rayon`] is compiled anew for each
//! closure, three times over: for a thread of the pool, for one outside of it, and for sequences of
//! unknown length. What is compiled here depends on the type of the answers alone.
//!
//! ```
//! use retime_numerics::parallel;
//! assert_eq!(parallel::map(&[3, 1, 2], |it| it * it), [9, 1, 4]);
//! let halves = parallel::try_numbers(5, |it| if it % 2 == 0 { Ok(it / 2) } else { Err(it) });
//! assert_eq!(halves, Err(1)); // 3 is refused as well
//! ```

use rayon::prelude::*;

/// The answers for the numbers below `count`.
pub fn numbers<T: Send>(count: usize, ask: impl Fn(usize) -> T + Sync) -> Vec<T> {
    in_order(count, &ask)
}

/// The answers for the numbers below `count`, or the first error.
pub fn try_numbers<T: Send, E: Send>(
    count: usize,
    ask: impl Fn(usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    in_order(count, &ask).into_iter().collect()
}

/// The answers for items.
pub fn map<I: Sync, T: Send>(items: &[I], ask: impl Fn(&I) -> T + Sync) -> Vec<T> {
    in_order(items.len(), &|at| ask(&items[at]))
}

/// The answers for items, or the first error.
pub fn try_map<I: Sync, T: Send, E: Send>(
    items: &[I],
    ask: impl Fn(&I) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let answers: Vec<Result<T, E>> = in_order(items.len(), &|at| ask(&items[at]));
    answers.into_iter().collect()
}

fn in_order<T: Send>(count: usize, ask: &(dyn Fn(usize) -> T + Sync)) -> Vec<T> {
    let mut answers = Vec::new();
    let asked = (0..count).into_par_iter().map(ask);
    asked.collect_into_vec(&mut answers);
    answers
}
