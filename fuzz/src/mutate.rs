//! Small changes to bytes, as damage and as mistakes make them.

use crate::random::Random;

/// Values at which readers tend to go wrong: bounds of widths, marks, digits.
const TELLING: [u8; 16] = [
    0, 1, 2, 4, 5, 7, 8, 9, 0x7F, 0x80, 0xFE, 0xFF, b'-', b'9', b'"', b'\n',
];

/// Changes `input` in one to eight places; `other` is one to take pieces from.
pub fn mutate(input: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..=random.below(8) {
        let at = random.below(input.len());
        match random.below(8) {
            0 => change(input, at, |byte| byte ^ 1 << random.below(8)),
            1 => change(input, at, |_| TELLING[random.below(TELLING.len())]),
            2 => change(input, at, |byte| byte.wrapping_add(1)),
            3 => change(input, at, |_| random.number() as u8),
            4 => input.truncate(at),
            5 => {
                let end = (at + 1 + random.below(16)).min(input.len());
                input.drain(at.min(end)..end);
            }
            6 => {
                let from = random.below(other.len());
                let end = (from + 1 + random.below(32)).min(other.len());
                let piece = other.get(from..end).unwrap_or_default();
                input.splice(at..at, piece.iter().copied());
            }
            _ => {
                // The same once more, as a record that is written twice.
                let end = (at + 1 + random.below(32)).min(input.len());
                let piece = input.get(at..end).unwrap_or_default().to_vec();
                input.splice(at..at, piece);
            }
        }
    }
}

fn change(input: &mut [u8], at: usize, mut to: impl FnMut(u8) -> u8) {
    if let Some(byte) = input.get_mut(at) {
        *byte = to(*byte);
    }
}
