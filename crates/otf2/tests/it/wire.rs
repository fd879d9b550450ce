//! Primitive values: every form that the format allows reads back.

use proptest::prelude::*;
use retime_otf2::{Cursor, Endian, Reason};

/// A value in `size` bytes behind its size byte; `size` may be too long.
fn compressed(value: u64, size: usize, endian: Endian) -> Vec<u8> {
    let mut bytes = vec![size as u8];
    match endian {
        Endian::Little => bytes.extend(&value.to_le_bytes()[..size]),
        Endian::Big => bytes.extend(&value.to_be_bytes()[8 - size..]),
    }
    bytes
}

fn shortest(value: u64) -> usize {
    8 - value.leading_zeros() as usize / 8
}

fn endian() -> impl Strategy<Value = Endian> {
    prop_oneof![Just(Endian::Little), Just(Endian::Big)]
}

proptest! {
    #[test]
    fn c64_reads_every_length(
        bits in 0..=64_u32, random: u64, spare in 0..8_usize, behind in 0..10_usize, order in endian(),
    ) {
        let value = random.checked_shr(64 - bits).unwrap_or(0);
        let size = (shortest(value) + spare).min(8);
        let mut bytes = compressed(value, size, order);
        let end = bytes.len();
        bytes.resize(end + behind, 0xaa);
        let mut cursor = Cursor::new(&bytes, order);
        prop_assert_eq!(cursor.c64(), Ok(value));
        prop_assert_eq!(cursor.position(), end);
    }

    #[test]
    fn c32_reads_every_length(value: u32, spare in 0..4_usize, order in endian()) {
        let size = (shortest(u64::from(value)) + spare).min(4);
        let bytes = compressed(u64::from(value), size, order);
        prop_assert_eq!(Cursor::new(&bytes, order).c32(), Ok(value));
        let signed = Cursor::new(&bytes, order).s32();
        prop_assert_eq!(signed, Ok(value.cast_signed()));
    }

    #[test]
    fn full_width_values_read_back(value: u64, order in endian()) {
        let bytes = order.bytes(value);
        prop_assert_eq!(order.u64(bytes), value);
        prop_assert_eq!(Cursor::new(&bytes, order).x64(), Ok(value));
        let double = Cursor::new(&bytes, order).f64().expect("eight bytes");
        prop_assert_eq!(double.to_bits(), value);
        let mut halves = Cursor::new(&bytes, order);
        let (a, b) = (u64::from(halves.x32()?), u64::from(halves.x32()?));
        let joined = if order == Endian::Little { b << 32 | a } else { a << 32 | b };
        prop_assert_eq!(joined, value);
    }

    /// No field reaches past the end of its record, whatever lies behind it.
    #[test]
    fn the_end_is_kept(bytes in prop::collection::vec(any::<u8>(), 0..24), end in 0..24_usize) {
        let end = end.min(bytes.len());
        let read = |f: fn(&mut Cursor<'_>) -> bool| {
            let mut cursor = Cursor::within(&bytes, 0..end, Endian::Little);
            while f(&mut cursor) && !cursor.is_empty() {}
            cursor.position()
        };
        prop_assert!(read(|c| c.c32().is_ok()) <= end);
        prop_assert!(read(|c| c.c64().is_ok()) <= end);
        prop_assert!(read(|c| c.u16().is_ok()) <= end);
        prop_assert!(read(|c| c.x64().is_ok()) <= end);
        prop_assert!(read(|c| c.f32().is_ok()) <= end);
        prop_assert!(read(|c| c.str().is_ok()) <= end);
    }
}

#[test]
fn short_forms_and_impossible_sizes() {
    let read = |bytes: &[u8]| Cursor::new(bytes, Endian::Little).c32();
    assert_eq!(read(&[0]), Ok(0));
    assert_eq!(read(&[0xff]), Ok(u32::MAX));
    // As trace format 1 wrote zero.
    assert_eq!(read(&[1, 0]), Ok(0));
    for size in 5..=254 {
        let error = read(&[size, 0, 0, 0, 0, 0, 0, 0, 0]).expect_err("impossible");
        assert_eq!((error.at, error.reason), (0, Reason::SizeByte));
    }
    assert_eq!(read(&[2, 0]).expect_err("cut").reason, Reason::PastEnd);
    let signed = |bytes: &[u8]| Cursor::new(bytes, Endian::Little).s64();
    assert_eq!(signed(&[0xff]), Ok(-1));
    assert_eq!(signed(&[8, 0, 0, 0, 0, 0, 0, 0, 0x80]), Ok(i64::MIN));
}
