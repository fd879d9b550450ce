//! Bad input, each with what is said about it.

use retime::Correction;
use retime::format::{Format, Undo};
use retime_jsonl::JsonLines;

use crate::common::{Input, compressed, correction};

const GOOD: &str = "{\"location\":0,\"time\":1}\n";

#[test]
fn lines_that_say_nothing_certain() {
    for (line, message) in [
        ("{", "EOF while parsing an object, at character 1"),
        ("nonsense", "expected ident, at character 2"),
        ("[0,1]", "this is a list; a line is one object"),
        (
            "\u{feff}{}",
            "the file begins with a byte order mark; write it as UTF-8 without one",
        ),
        (r#"{"time":1}"#, "\"location\" is missing"),
        (r#"{"location":0}"#, "\"time\" is missing"),
        (
            r#"{"location":0,"type":"heartbeat"}"#,
            "\"time\" is missing",
        ),
        (
            r#"{"location":0,"time":-1}"#,
            "\"time\" is -1: give whole ticks from 0 to 18446744073709551615",
        ),
        (
            r#"{"location":0,"time":18446744073709551616}"#,
            "\"time\" is 18446744073709551616: give whole ticks from 0 to 18446744073709551615",
        ),
        (
            r#"{"location":0,"time":"1"}"#,
            "\"time\" is \"1\": give whole ticks from 0 to 18446744073709551615",
        ),
        (
            r#"{"location":[0],"time":1}"#,
            "[0] is no location: give a number or a string",
        ),
        (
            r#"{"location":-1,"time":1}"#,
            "-1 is no location: give a number or a string",
        ),
        (
            r#"{"location":0,"time":1,"type":"send","to":null}"#,
            "a send needs \"message\" or \"to\"",
        ),
        (
            r#"{"location":0,"time":1,"type":"send","to":true}"#,
            "true is no location: give a number or a string",
        ),
        (
            r#"{"location":0,"time":1,"type":"receive","to":1}"#,
            "a receive needs \"message\" or \"from\"",
        ),
        (
            r#"{"location":0,"time":1,"type":"send","to":1,"bytes":"12"}"#,
            "\"bytes\" is \"12\": give whole bytes from 0 to 18446744073709551615, or no such field",
        ),
        (
            r#"{"location":0,"time":1,"type":"receive","from":1,"bytes":1.5}"#,
            "\"bytes\" is 1.5: give whole bytes from 0 to 18446744073709551615, or no such field",
        ),
        (
            r#"{"location":0,"time":1,"type":"send","message":1.5}"#,
            "1.5 is no id: give a number or a string",
        ),
        (
            r#"{"location":0,"time":1,"type":"recieve"}"#,
            "type \"recieve\" is not known: give internal, send, receive, collective-begin, \
             collective-end, heartbeat or end",
        ),
        (
            r#"{"location":0,"time":1,"type":"collective-begin","participants":2}"#,
            "\"collective\" is missing",
        ),
        (
            r#"{"location":0,"time":1,"type":"collective-end","collective":2}"#,
            "\"participants\" is missing",
        ),
        (
            r#"{"location":0,"time":1,"type":"collective-end","collective":2,"participants":2,"class":"scan"}"#,
            "a scan needs \"rank\"",
        ),
        (
            r#"{"location":0,"time":1,"type":"collective-end","collective":2,"participants":2,"class":"none"}"#,
            "class \"none\" is not known: give all-to-all, from-root, to-root or scan",
        ),
        (
            r#"{"location":0,"time":1,"time":2}"#,
            "duplicate field `time`, at character 29",
        ),
        (
            r#"{"location":0,"time":1,"tag":4294967296}"#,
            "invalid value: integer `4294967296`, expected u32, at character 39",
        ),
        (
            r#"{"retime-stream":1}"#,
            "a header is the first line, or none",
        ),
    ] {
        let input = Input::new(format!("{GOOD}\n{line}\n{GOOD}"));
        let expected = format!("events.jsonl: line 3: {message}");
        assert_eq!(input.error(), expected, "{line}");
        let identity = correction(&[&[]]);
        let failed = input.rewrite(&identity).unwrap_err();
        assert_eq!(input.said(&failed), expected, "{line}");
    }
}

#[test]
fn headers_that_contradict_themselves() {
    for (header, message) in [
        (
            r#"{"retime-stream":2}"#,
            "version 2 of the format is not known, only 1 is",
        ),
        (
            r#"{"retime-stream":1,"locations":[1,1]}"#,
            "location 1 is listed twice",
        ),
        (
            r#"{"retime-stream":1,"locations":[{}]}"#,
            "{} is no location: give a number or a string",
        ),
        (
            r#"{"retime-stream":1,"locations":[1,2],"clocks":[0]}"#,
            "\"clocks\" has 1 entries and \"locations\" 2; each location needs the number of its clock",
        ),
        (
            r#"{"retime-stream":1,"ticks_per_second":0}"#,
            "there are no 0 ticks per second",
        ),
    ] {
        let input = Input::new(format!("{header}\n{GOOD}"));
        let error = input.open().err().unwrap();
        let expected = format!("events.jsonl: line 1: {message}");
        assert_eq!(input.said(&error), expected);
    }
}

#[test]
fn bytes_that_are_no_text() {
    let input = Input::new(
        [
            GOOD.as_bytes(),
            b"{\"location\":0,\"time\":1,\"x\":\"\xff\"}",
        ]
        .concat(),
    );
    assert_eq!(input.error(), "events.jsonl: line 2: this is not UTF-8");
}

#[test]
fn a_line_without_end() {
    let input = Input::new([GOOD.as_bytes(), &vec![b' '; 17 << 20]].concat());
    assert_eq!(
        input.error(),
        "events.jsonl: line 2: is longer than 16 MiB; is this a file of JSON lines?"
    );
}

#[test]
fn compressed_data_that_end_too_early() {
    let lines = GOOD.repeat(1000);
    let whole = compressed(&lines);
    let input = Input::named("events.jsonl.gz", &whole[..whole.len() - 9]);
    let error = input.error();
    assert!(error.starts_with("events.jsonl.gz: after line "), "{error}");
}

#[test]
fn no_file_and_a_directory() {
    let input = Input::new(GOOD);
    let error = JsonLines
        .open(&input.beside("missing.jsonl"))
        .err()
        .unwrap();
    assert_eq!(
        input.said(&error),
        "missing.jsonl: No such file or directory (os error 2)"
    );
    let directory = input.beside("directory.jsonl");
    std::fs::create_dir(&directory).unwrap();
    let error = JsonLines.open(&directory).err().unwrap();
    assert_eq!(
        input.said(&error),
        "directory.jsonl: is a directory, where a file is expected"
    );
}

#[test]
fn what_does_not_fit_into_64_bits() {
    let input =
        Input::new("{\"location\":0,\"time\":5}\n{\"location\":0,\"time\":18446744073709551615}");
    let error = input.rewrite(&correction(&[&[(5, 6)]])).unwrap_err();
    assert_eq!(
        input.said(&error),
        "events.jsonl: line 2: its corrected time does not fit into 64 bits"
    );
}

#[test]
fn a_correction_of_another_file() {
    let input = Input::new(GOOD);
    let expected = "events.jsonl: has 1 location, but the correction is for 2";
    let two = correction(&[&[], &[]]);
    let error = input.rewrite(&two).unwrap_err();
    assert_eq!(input.said(&error), expected);
    let none = correction(&[]);
    let error = input.rewrite(&none).unwrap_err();
    assert_eq!(input.said(&error), expected.replace('2', "0"));
}

#[test]
fn what_exists_is_not_overwritten() {
    let input = Input::new(GOOD);
    let trace = input.open().unwrap();
    assert!(
        trace
            .rewriting()
            .unwrap()
            .rewrite(&correction(&[&[]]), &input.path, &())
            .is_err()
    );
    assert!(trace.rewriting().unwrap().copy(&input.path, &()).is_err());
    assert_eq!(std::fs::read_to_string(&input.path).unwrap(), GOOD);
}

#[test]
fn undo_data_that_do_not_fit() {
    let shift = correction(&[&[(0, 7)]]);
    let input = Input::new(GOOD);
    let (corrected, undo) = input.rewrite(&shift).unwrap();
    let refused = |content: &[u8], correction: &Correction, undo: &Undo| {
        let input = Input::new(content);
        let error = input.restore(correction, undo).unwrap_err();
        input.said(&error)
    };
    let changed = "events.jsonl: cannot be restored: it is not the file that the correction wrote: \
                   it was changed since, or the undo data belong to another file";
    let bad = format!("{GOOD}{{\"location\":0}}\n");
    let no_text = [GOOD.as_bytes(), b"\xff"].concat();
    for other in [GOOD.as_bytes(), bad.as_bytes(), &no_text] {
        assert_eq!(refused(other, &shift, &undo), changed);
    }
    assert_eq!(
        refused(&corrected, &correction(&[&[(0, 6)]]), &undo),
        "events.jsonl: cannot be restored: the result differs from the original; the correction or \
         the undo data are not those of this file"
    );
    assert_eq!(
        refused(&corrected, &shift, &Undo("[]".into())),
        "events.jsonl: cannot be restored: these are no undo data of JSON lines: invalid length 0, \
         expected struct Saved with 5 elements at line 1 column 2"
    );
    let later = Undo(undo.0.replace("\"format\":1", "\"format\":2"));
    assert_eq!(
        refused(&corrected, &shift, &later),
        "events.jsonl: cannot be restored: the undo data have format 2, only 1 is supported"
    );
}

#[test]
fn events_that_are_not_there() {
    let trace = Input::new(GOOD);
    let trace_error = |events: &[&[u32]]| {
        let error = trace.open().unwrap().timelines(events, &()).unwrap_err();
        trace.said(&error)
    };
    assert_eq!(
        trace_error(&[&[0, 1]]),
        "events.jsonl: a location has 1 event, but number 1 (from 0) is asked for"
    );
    assert_eq!(
        trace_error(&[]),
        "events.jsonl: has 1 location, but 0 are asked for"
    );
}
