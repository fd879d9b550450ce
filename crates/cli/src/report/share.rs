//! Shares in words.

/// A share for reading: `0.02 %`, `350 %`.
pub(crate) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        0.0 => "0 %".into(),
        p if p < 0.001 => format!("{p:.1e} %"),
        p if p < 1.0 => format!("{p:.3} %"),
        p if p < 1e6 => format!("{p:.1} %"),
        // An interval of a tick that became a tenth of a second.
        p => format!("{p:.1e} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_large_shares_are_written_as_very_small_ones_are() {
        let shares = [0.0, 5e-6, 0.002, 3.5, 9_999.0, 1.08e8].map(share);
        let wanted = [
            "0 %",
            "5.0e-4 %",
            "0.200 %",
            "350.0 %",
            "999900.0 %",
            "1.1e10 %",
        ];
        assert_eq!(shares, wanted);
    }
}
