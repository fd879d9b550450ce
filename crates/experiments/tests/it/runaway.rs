//! Rabenseifner 2000, figure 4.5 right: B and C hold clocks that run away under A
//! alone, and B does not where other clocks never lead.

use retime_experiments::runaway::{APART, ahead_of_all, control, leads};

const EXCHANGES: usize = 200;

/// Leads in units of the largest difference of the clocks. At the last exchange
/// some clocks have ended.
fn relative(groups: bool, b: bool, c: bool) -> Vec<f64> {
    let leads = leads(EXCHANGES as u64 + 1, groups, control(b, c)).unwrap();
    let leads = leads[..EXCHANGES].iter();
    leads.map(|&lead| lead as f64 / APART).collect()
}

fn largest(leads: &[f64]) -> f64 {
    leads.iter().copied().fold(0.0, f64::max)
}

#[test]
fn under_a_alone_every_message_adds_to_the_lead() {
    for groups in [false, true] {
        let leads = relative(groups, false, false);
        // 50 us of each 2 ms are lost to the delay, 20 us to gamma.
        let gains = |pair: &[f64]| (pair[1] - pair[0] - 0.965).abs() < 1e-3;
        assert!(leads.windows(2).all(gains), "{leads:?}");
    }
}

#[test]
fn b_and_c_keep_leads_below_twice_the_clock_difference() {
    for (b, c) in [(true, false), (false, true), (true, true)] {
        let leads = relative(false, b, c);
        assert!(largest(&leads) < 2.0, "{b} {c} {leads:?}");
    }
}

#[test]
fn b_is_blind_where_another_group_does_not_lead_and_c_is_not() {
    let without_c = relative(true, true, false);
    assert!(without_c[EXCHANGES - 1] > 0.9 * EXCHANGES as f64);
    for b in [false, true] {
        let leads = relative(true, b, true);
        assert!(largest(&leads) < 2.0, "{b} {leads:?}");
    }
}

/// Section 4.4.5: control begins where a clock is ahead of all by 1.2 of their largest difference.
#[test]
fn controller_c_keeps_its_bound() {
    let share = ahead_of_all(control(false, true)).unwrap();
    assert!((0.9..1.2).contains(&share), "{share}");
    assert!(ahead_of_all(control(false, false)).unwrap() > 100.0);
}
