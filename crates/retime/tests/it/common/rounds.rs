//! Three ranks that send to the next one in each round and meet in each fourth.

use super::hand::{barrier, receive, send};
use super::trace::Call;

/// Ticks from round to round.
const ROUND: u64 = 1_000;

/// What a rank does; the second one's clock is behind.
pub fn events(rank: u32, rounds: u64) -> Vec<(u64, Call)> {
    let (next, previous) = ((rank + 1) % 3, (rank + 2) % 3);
    let of_round = |round: u64| {
        let late = (7_919 * round + 31 * u64::from(rank)) % 97;
        let start = ROUND * (round + 1) + late - if rank == 1 { 400 } else { 0 };
        let mut events = vec![(start, send(next)), (start + 200, receive(previous))];
        if round.is_multiple_of(4) {
            events.extend([(start + 300, Call::Begin), (start + 400, barrier())]);
        }
        events
    };
    (0..rounds).flat_map(of_round).collect()
}
