//! Rabenseifner 2000, section 4.4.5: a matrix of clocks where controller C is too strict.

use retime_experiments::strict::{BEHIND, control, run};

#[test]
fn controller_c_reduces_gamma_where_nothing_is_ahead() {
    let [b, c, d] = [(false, None), (true, None), (true, Some(0.98))]
        .map(|(c, d)| run(BEHIND, control(c, d)).unwrap());
    for outcome in [b, c, d] {
        // No clock gets ahead of the one furthest ahead: there was nothing to reduce.
        assert!(outcome.ahead <= 1_000, "{outcome:?}");
    }
    assert!(c.behind > 2.0 * b.behind, "{b:?} {c:?}");
    assert!(c.deviation > 10.0 * b.deviation, "{b:?} {c:?}");
    // Controller D limits it.
    assert!(
        d.deviation < 0.05 && d.behind < 0.8 * c.behind,
        "{c:?} {d:?}"
    );
    assert!(d.deviation > 2.0 * b.deviation, "{b:?} {d:?}");
}

#[test]
fn it_is_idle_where_neighbours_do_not_differ() {
    let [b, c] = [false, true].map(|c| run(0, control(c, None)).unwrap());
    assert_eq!(b, c);
    assert_eq!(b.ahead, 0);
}
