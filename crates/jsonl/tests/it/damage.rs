//! Damage in every byte: an error or a result, never a panic.

use crate::common::{Input, compressed, correction};

const LINES: &str = r#"{"retime-stream":1,"ticks_per_second":1000,"locations":[0,"é"],"clocks":[0,1]}
{"location":0,"time":12,"type":"send","to":"é","tag":3}
{"location":"é","time":10,"type":"receive","from":0,"tag":3,"note":{"a":[1,"\n"]}}
{"location":0,"type":"heartbeat","time":15}
{"location":0,"time":16,"type":"collective-begin","collective":7,"participants":2}
{"location":"é","time":17,"type":"collective-end","collective":7,"participants":2,"raw_time":1}
{"location":"é","type":"end"}
"#;

/// Reads damaged content, and if `whole` rewrites it and takes that back.
fn survives(input: &Input, content: &[u8], whole: bool) {
    // A file that is overwritten is flushed by some file systems, a new one is not.
    std::fs::remove_file(&input.path).unwrap();
    std::fs::write(&input.path, content).unwrap();
    let found = input.scan();
    if !whole {
        return;
    }
    let shift = correction(&[&[(0, 100)], &[(10, 300), (17, 302)]]);
    let Ok((corrected, undo)) = input.rewrite(&shift) else {
        return;
    };
    assert!(found.is_ok());
    let corrected = Input::new(corrected);
    let restored = corrected.restore(&shift, &undo).unwrap();
    if !content.starts_with(&[0x1F, 0x8B]) {
        assert_eq!(restored, content);
    }
}

#[test]
fn cut_at_every_byte() {
    for content in [LINES.as_bytes().to_vec(), compressed(LINES)] {
        let input = Input::new("");
        for end in 0..=content.len() {
            survives(&input, &content[..end], true);
        }
    }
}

#[test]
fn every_bit_flipped() {
    for content in [LINES.as_bytes().to_vec(), compressed(LINES)] {
        let input = Input::new("");
        for place in 0..content.len() {
            for bit in 0..8 {
                let mut damaged = content.clone();
                damaged[place] ^= 1 << bit;
                survives(&input, &damaged, place % 8 == bit);
            }
        }
    }
}
