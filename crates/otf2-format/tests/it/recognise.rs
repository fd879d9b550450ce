//! Which paths are archives, and which directories may be replaced.

use std::fs;
use std::path::Path;

use retime_model::format::{Format, Recognition};
use retime_otf2_format::Otf2;

use crate::common::{small_archive, write};

#[test]
fn an_anchor_is_recognised_by_its_name_and_by_its_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let anchor = write(dir.path(), &small_archive());
    let renamed = dir.path().join("anchor.bin");
    fs::copy(&anchor, &renamed).unwrap();
    let text = dir.path().join("events.jsonl");
    fs::write(&text, "{}\n").unwrap();
    // A damaged anchor must be said to be one, not to be nothing.
    let damaged = dir.path().join("damaged.OTF2");
    fs::write(&damaged, "").unwrap();
    let (above, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(above.path().join("run")).unwrap();
    write(&above.path().join("run"), &small_archive());
    fs::write(elsewhere.path().join("notes.txt"), "").unwrap();
    let cases = [
        (anchor.as_path(), Recognition::Certain),
        (&renamed, Recognition::Certain),
        (&damaged, Recognition::Certain),
        (dir.path(), Recognition::Certain),
        // These are not one; what is, is said when they are opened.
        (&dir.path().join("t"), Recognition::Possible),
        (above.path(), Recognition::Possible),
        (&dir.path().join("t.def"), Recognition::Possible),
        (elsewhere.path(), Recognition::No),
        (&text, Recognition::No),
        (Path::new("nowhere/traces.otf2"), Recognition::Certain),
        (Path::new("nowhere/else"), Recognition::No),
    ];
    for (path, expected) in cases {
        assert_eq!(
            Otf2.recognise(path).unwrap(),
            expected,
            "{}",
            path.display()
        );
    }
}

#[test]
fn only_what_was_written_may_be_replaced() {
    let (input, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(input.path(), &small_archive());
    fs::write(input.path().join("scorep.cfg"), "mine").unwrap();
    let target = target.path().join("out");
    let may_replace = || Otf2.may_replace(&target, input.path());
    assert!(may_replace().is_err(), "nothing is there");
    fs::create_dir(&target).unwrap();
    assert_eq!(may_replace(), Ok(()), "an empty directory");
    write(&target, &small_archive());
    fs::write(target.join("t.retime"), "{}").unwrap();
    fs::write(target.join("scorep.cfg"), "copied").unwrap();
    assert_eq!(
        may_replace(),
        Ok(()),
        "an archive and what lies beside the input"
    );

    fs::write(target.join("thesis.tex"), "years of work").unwrap();
    let error = may_replace().unwrap_err();
    assert!(
        error.contains("other things than one OTF2 archive"),
        "{error}"
    );
    fs::remove_file(target.join("thesis.tex")).unwrap();
    fs::create_dir(target.join("t.data")).unwrap();
    assert!(
        may_replace().is_err(),
        "a directory that is not the archive's"
    );
    fs::remove_dir(target.join("t.data")).unwrap();
    fs::copy(target.join("t.otf2"), target.join("u.otf2")).unwrap();
    assert!(may_replace().is_err(), "two archives");
    fs::remove_file(target.join("u.otf2")).unwrap();
    assert_eq!(may_replace(), Ok(()));
    let file = target.join("t.otf2");
    assert!(Otf2.may_replace(&file, input.path()).is_err(), "a file");
}

#[cfg(unix)]
#[test]
fn a_link_is_never_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let (target, link) = (dir.path().join("target"), dir.path().join("link"));
    fs::create_dir(&target).unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert!(Otf2.may_replace(&link, dir.path()).is_err());
}
