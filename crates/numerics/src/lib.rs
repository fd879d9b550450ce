//! Numerics that know no traces.
//!
//! Sparse matrices, graphs of difference constraints, hulls and taut strings, for any program.
//! Nothing here knows what an event, a clock or a message is; of `retime-model` this crate
//! takes [`Monitor`](retime_model::Monitor), by which long work is given up. Results are
//! exact where numbers are whole, and the same to the last digit for any number of threads
//! where they are not.
//!
//! | module | solves |
//! |---|---|
//! | [`cholesky`] | sparse symmetric positive definite systems, many of one pattern |
//! | [`paths`] | shortest paths and negative cycles: systems of difference constraints |
//! | [`hull`] | lower convex hulls of points |
//! | [`fewest_lines`] | the fewest straight stretches within bounds, and where one ends |
//! | [`taut_string`] | the shortest path through a corridor of gates, at once or gate by gate |
//! | [`nearest_point`] | the nearest point that satisfies linear inequalities |
//! | [`top_two`] | the largest value of another group than one's own |
//! | [`lattice`] | the step of a lattice, of which only some points are seen |
//! | [`median`] | the middle of values |
//! | [`parallel`] | many questions of one kind, by all threads |
//! | [`sorting`] | long columns, until somebody interrupts |
//! | [`mode`] | the most frequent of values |
//! | [`student`] | how far a mean of few values is from 0 by chance |
//!
//! ```
//! use retime_numerics::cholesky::{Pattern, SparseCholesky};
//!
//! // 4 x + 2 y = 6 and 2 x + 3 y = 5.
//! let pattern = Pattern::new(2, vec![(0, 1)]); // the diagonal comes by itself
//! let mut values = vec![0.0; pattern.len()];
//! for (column, row, value) in [(0, 0, 4.0), (0, 1, 2.0), (1, 1, 3.0)] {
//!     values[pattern.position(column, row).ok_or("no entry")?] = value;
//! }
//! let mut solver = SparseCholesky::new(pattern, &())?.ok_or("too large")?;
//! let found = solver.solve(&values, &[6.0, 5.0], &())?.ok_or("not positive definite")?;
//! assert!(found.iter().all(|x| (x - 1.0).abs() < 1e-12));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cholesky;
pub mod fewest_lines;
pub mod hull;
pub mod lattice;
pub mod median;
pub mod mode;
pub mod nearest_point;
pub mod parallel;
pub mod paths;
pub mod sorting;
pub mod student;
pub mod taut_string;
pub mod top_two;
