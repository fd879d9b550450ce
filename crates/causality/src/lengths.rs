//! Conclusions from the lengths of messages about a channel that lost some.
//!
//! Both ends of a message record its length. So if receives are missing, the
//! lengths of those that are there must be found among those of the sends, in the
//! same order. Each receive takes the first send after that of its predecessor that
//! has its length: in whatever way the lengths fit, the message of a receive is that
//! one or a later one (by induction: no way has the predecessor earlier). If sends
//! are missing, the same holds from the end: each send takes the last receive that
//! it can have.
//!
//! ```text
//! sends      8  4  4  16      Without lengths receive 2 would be paired with send 2,
//! receives   8  4     16      which is earlier than its own.
//! ```
//!
//! Where lengths do not fit at all, both sends and receives are missing, or were
//! recorded in an order that they did not have, and nothing is certain. Two ways of
//! recording are no contradiction. A recorder may say how much room a receive had
//! instead of how much came: never less than what was sent. Once a complete channel
//! shows that, no length of the trace counts. And one may say 0 for all.

use retime_model::Length;

/// The verdict of lengths on the pairs of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LengthVerdict {
    /// Nothing.
    Silent,
    /// These sends and receives may belong together, or later ones than these sends.
    Pairs(Vec<(usize, usize)>),
    /// Whatever is paired in order, some pair is impossible.
    Contradiction,
}

/// Judges sends and receives that are listed in the order of the channel.
pub(super) fn judge(sent: &[Length], received: &[Length]) -> LengthVerdict {
    let mut both = sent.iter().chain(received);
    let is_mute = |side: &[Length]| side.iter().all(|length| length.number() == 0);
    let alike = both.clone().all(|length| Some(length) == sent.first());
    if alike || both.any(|it| !it.is_known()) || is_mute(sent) || is_mute(received) {
        return LengthVerdict::Silent;
    }
    let pairs = if sent.len() >= received.len() {
        embed(received, sent).map(|places| places.into_iter().zip(0..).collect())
    } else {
        from_end(sent, received).map(|places| (0..).zip(places).collect())
    };
    match pairs {
        Some(pairs) => LengthVerdict::Pairs(pairs),
        None if tells_room(sent, received) => LengthVerdict::Silent,
        None => LengthVerdict::Contradiction,
    }
}

/// The first place in `whole` for each of `part`, in order.
fn embed(part: &[Length], whole: &[Length]) -> Option<Vec<usize>> {
    let mut from = 0;
    let place = |length: &Length| {
        let at = from + whole[from..].iter().position(|it| it == length)?;
        from = at + 1;
        Some(at)
    };
    part.iter().map(place).collect()
}

/// The last place in `whole` for each of `part`, in order.
fn from_end(part: &[Length], whole: &[Length]) -> Option<Vec<usize>> {
    let reversed = |side: &[Length]| side.iter().rev().copied().collect::<Vec<_>>();
    let mut places = embed(&reversed(part), &reversed(whole))?;
    places.reverse();
    for place in &mut places {
        *place = whole.len() - 1 - *place;
    }
    Some(places)
}

/// True if the channel is complete, each receive has room for what was sent, and some
/// have more.
pub(super) fn tells_room(sent: &[Length], received: &[Length]) -> bool {
    let mut pairs = sent.iter().zip(received);
    sent.len() == received.len()
        && sent != received
        && pairs.all(|(sent, received)| sent <= received)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(sent: &[u64], received: &[u64]) -> LengthVerdict {
        let lengths = |side: &[u64]| side.iter().map(|&it| Length::of(it)).collect::<Vec<_>>();
        judge(&lengths(sent), &lengths(received))
    }

    #[test]
    fn a_lost_receive_is_found_by_the_lengths_around_it() {
        let pairs = vec![(0, 0), (1, 1), (3, 2)];
        assert_eq!(
            verdict(&[8, 4, 4, 16], &[8, 4, 16]),
            LengthVerdict::Pairs(pairs)
        );
    }

    #[test]
    fn a_lost_send_is_found_from_the_end() {
        let pairs = vec![(0, 0), (1, 2), (2, 3)];
        assert_eq!(
            verdict(&[8, 4, 16], &[8, 4, 4, 16]),
            LengthVerdict::Pairs(pairs)
        );
    }

    #[test]
    fn equal_lengths_say_nothing() {
        assert_eq!(verdict(&[8, 8], &[8]), LengthVerdict::Silent);
        assert_eq!(verdict(&[], &[]), LengthVerdict::Silent);
    }

    #[test]
    fn a_channel_that_lacks_both_is_found_out() {
        // The first send and the last receive are missing.
        assert_eq!(
            verdict(&[2, 3, 4], &[1, 2, 3]),
            LengthVerdict::Contradiction
        );
    }

    #[test]
    fn the_room_of_receives_is_no_length() {
        assert_eq!(verdict(&[2, 3, 4], &[9, 9, 9]), LengthVerdict::Silent);
        assert_eq!(verdict(&[2, 3, 4], &[0, 0, 0]), LengthVerdict::Silent);
    }
}
