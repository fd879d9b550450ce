//! Which lines belong together, by hand.

use retime::causality::{Class, Defect};

use crate::common::{Input, causality};

/// What each receive, numbered as it comes in the file, gets: the number of a send.
fn messages(lines: &[&str]) -> (Vec<(u64, u64)>, Vec<Defect>) {
    let lines = (0..).zip(lines).map(|(time, line)| {
        let (location, rest) = line.split_once(' ').unwrap();
        format!("{{\"location\":\"{location}\",\"time\":{time},{rest}}}\n")
    });
    let scan = Input::new(lines.collect::<String>()).scan().unwrap();
    let causality = causality(scan);
    let nodes = causality.nodes();
    let mut pairs: Vec<(u64, u64)> = nodes
        .all()
        .filter_map(|node| Some((causality.message_source(node)?, node)))
        .map(|(send, receive)| (nodes.timestamp(send).0, nodes.timestamp(receive).0))
        .collect();
    pairs.sort_unstable();
    let defects = causality.defects().iter();
    (pairs, defects.map(|(kind, _)| kind).collect())
}

#[test]
fn the_first_receive_of_an_id_belongs_to_the_first_send() {
    let (pairs, defects) = messages(&[
        r#"a "type":"send","message":"m""#,
        r#"a "type":"send","message":"m""#,
        r#"b "type":"receive","message":"m""#,
        r#"b "type":"receive","message":"m""#,
        // Its send comes later in the file.
        r#"b "type":"receive","message":"m""#,
        r#"b "type":"receive","message":"m""#,
        r#"a "type":"send","message":"m""#,
        r#"a "type":"send","message":"m""#,
    ]);
    assert_eq!(pairs, [(0, 2), (1, 3), (6, 4), (7, 5)]);
    assert_eq!(defects, []);
}

#[test]
fn numbers_and_strings_are_other_ids() {
    let (pairs, defects) = messages(&[
        r#"a "type":"send","message":"1""#,
        r#"a "type":"send","message":1"#,
        r#"a "type":"send","message":"\u0031""#,
        r#"b "type":"receive","message":1"#,
        r#"b "type":"receive","message":"1""#,
        r#"b "type":"receive","message":"2""#,
    ]);
    assert_eq!(pairs, [(0, 4), (1, 3)]);
    let lost = [Defect::SendWithoutReceive, Defect::ReceiveWithoutSend];
    assert_eq!(defects, lost);
}

#[test]
fn channels_are_pairs_of_locations_with_tag_and_communicator() {
    let (pairs, defects) = messages(&[
        r#"a "type":"send","to":"b""#,
        r#"a "type":"send","to":"b","tag":1"#,
        r#"a "type":"send","to":"b","communicator":4294967295"#,
        r#"a "type":"send","to":"b","tag":0"#,
        r#"a "type":"send","to":"c","tag":0"#,
        r#"b "type":"receive","from":"a","communicator":4294967295,"tag":0"#,
        r#"b "type":"receive","from":"a","communicator":0"#,
        r#"b "type":"receive","from":"a","tag":1"#,
        r#"b "type":"receive","from":"a""#,
        r#"c "type":"receive","from":"a","to":5"#,
    ]);
    assert_eq!(pairs, [(0, 6), (1, 7), (2, 5), (3, 8), (4, 9)]);
    assert_eq!(defects, []);
}

#[test]
fn an_id_says_more_than_a_channel() {
    let (pairs, _) = messages(&[
        r#"a "type":"send","to":"b","message":1"#,
        r#"a "type":"send","to":"b","message":2"#,
        r#"b "type":"receive","from":"a","message":2"#,
        r#"b "type":"receive","from":"a","message":1"#,
    ]);
    assert_eq!(pairs, [(0, 3), (1, 2)]);
}

fn part(location: u32, time: u32, kind: &str, more: &str) -> String {
    format!(
        "{{\"location\":{location},\"time\":{time},\"type\":\"collective-{kind}\",\"collective\":\"c\",\
         \"participants\":3{more}}}\n"
    )
}

#[test]
fn operations_of_every_class() {
    for (class, root, expected) in [
        ("all-to-all", 9, (Class::AllToAll, 3, 3)),
        ("from-root", 1, (Class::OneToAll, 1, 2)),
        ("to-root", 1, (Class::AllToOne, 2, 1)),
        ("scan", 9, (Class::Prefix, 3, 3)),
    ] {
        let more = |location| {
            let root = location == root;
            format!(",\"class\":\"{class}\",\"rank\":{location},\"root\":{root}")
        };
        // Twice under the same id.
        let lines = [10, 30].map(|time| {
            let begin = |location| part(location, time, "begin", &more(location));
            let end = |location| part(location, time + 10, "end", &more(location));
            [begin(0), begin(1), end(1), begin(2), end(2), end(0)].concat()
        });
        let scan = Input::new(lines.concat()).scan().unwrap();
        let causality = causality(scan);
        assert!(causality.defects().is_empty());
        let collectives = causality.collectives();
        assert_eq!(collectives.instances().len(), 2, "{class}");
        for instance in collectives.instances() {
            let participants = collectives.participants(instance);
            let causes = participants
                .iter()
                .filter(|it| it.cause().is_some())
                .count();
            let effects = participants
                .iter()
                .filter(|it| it.effect().is_some())
                .count();
            let class = collectives.operation(instance).class;
            assert_eq!((class, causes, effects), expected);
        }
    }
}

#[test]
fn a_line_may_say_how_many_take_part() {
    let more = ",\"begins\":1,\"ends\":2";
    let once = [
        part(0, 1, "begin", more),
        part(1, 2, "end", more),
        part(2, 3, "end", more),
    ];
    let scan = Input::new(once.concat().repeat(2)).scan().unwrap();
    let whole = causality(scan);
    assert_eq!(whole.collectives().instances().len(), 2);
    assert!(
        !whole
            .defects()
            .iter()
            .any(|(kind, _)| kind == Defect::CollectiveIncomplete)
    );
    let scan = Input::new(once[..2].concat()).scan().unwrap();
    let defects = causality(scan);
    assert_eq!(defects.defects().count(Defect::CollectiveIncomplete), 1);
}

#[test]
fn heartbeats_and_ends_are_no_events() {
    let text = "{\"location\":0,\"time\":9}\n{\"location\":0,\"type\":\"heartbeat\",\"time\":99}\n\
                {\"location\":0,\"time\":8}\n{\"location\":0,\"type\":\"end\"}\n";
    let scan = Input::new(text).scan().unwrap();
    let log = scan.logs[0].columns();
    assert_eq!(log.events, 2);
    assert_eq!(
        log.range.map(|(first, last)| (first.0, last.0)),
        Some((9, 9))
    );
    assert_eq!(log.defects.count(Defect::TimeRunsBackwards), 1);
    assert_eq!(scan.contents[0].kinds, [(0, 2)]);
}

/// The warnings about lines, each written `location time type id`.
fn warnings(lines: &[&str]) -> Vec<String> {
    let line = |line: &&str| {
        let words: Vec<&str> = line.split(' ').collect();
        format!(
            "{{\"location\":\"{}\",\"time\":{},\"type\":\"{}\",\"message\":{}}}\n",
            words[0], words[1], words[2], words[3]
        )
    };
    let trace = Input::new(lines.iter().map(line).collect::<String>());
    let trace = trace.open().unwrap();
    let contents = trace.scan(&()).unwrap().contents;
    trace.warnings(&contents)
}

#[test]
fn ids_that_several_locations_use_at_a_time_are_named() {
    let sound = ["a 1 send 7", "b 2 receive 7", "b 3 send 7", "a 4 receive 7"];
    assert!(warnings(&sound).is_empty());
    // Twice under way from one sender, which is no clash.
    let again = ["a 1 send 7", "a 2 send 7", "b 3 receive 7", "b 4 receive 7"];
    assert!(warnings(&again).is_empty());
    let both_send = ["a 1 send 7", "b 1 send 7", "a 2 receive 7", "b 2 receive 7"];
    let both_receive = ["a 1 receive 7", "b 1 receive 7", "c 1 send 7", "c 2 send 7"];
    let own = ["a 1 receive 7", "a 2 send 7"];
    for (lines, who) in [
        (
            &both_send[..],
            "sent by a (location 0) and by b (location 1)",
        ),
        (
            &both_receive,
            "received by a (location 0) and by b (location 1)",
        ),
        (&own, "a (location 0) receives it before it sends it"),
    ] {
        let said = warnings(lines);
        let begin =
            format!("1 line with a message id that was in use already, first id 7, {who}: ");
        assert!(said.len() == 1 && said[0].starts_with(&begin), "{said:#?}");
    }
}

#[test]
fn lines_that_stand_newest_first_are_named() {
    let falling = [
        "b 9 receive 1",
        "b 8 send 2",
        "a 8 send 1",
        "b 7 send 3",
        "b 6 send 4",
    ];
    let said = warnings(&falling);
    assert!(
        said.len() == 1 && said[0].starts_with("lines stand newest first"),
        "{said:#?}"
    );
    let rising: Vec<&str> = falling.into_iter().rev().collect();
    assert!(warnings(&rising).is_empty());
    // A single stamp in the future is a wrong stamp, though all others are below it.
    let glitch = [
        "b 9 send 1",
        "b 1 send 2",
        "b 2 send 3",
        "b 3 send 4",
        "b 4 send 5",
    ];
    assert!(warnings(&glitch).is_empty());
}
