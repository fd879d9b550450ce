//! How processes reach each other while they measure.

use retime_model::Timestamp;

/// The content of one message.
pub type Words = [i64; 4];

/// A process among others, with its clock. Messages between two processes arrive, in the
/// order in which they were sent.
pub trait Exchange {
    /// Why a message did not arrive.
    type Error;

    /// The number of this process, from 0.
    fn rank(&self) -> usize;

    /// Sends a message, and need not wait until it is taken.
    fn send(&mut self, to: usize, words: Words) -> Result<(), Self::Error>;

    /// Waits for the next message of that process.
    fn receive(&mut self, from: usize) -> Result<Words, Self::Error>;

    /// The time that the clock of this process shows now.
    fn now(&mut self) -> Timestamp;
}
