//! Shares in words.

/// A share for reading: `0.02 %`, `350 %`.
pub(crate) fn share(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        0.0 => "0 %".into(),
        p if p < 0.001 => format!("{p:.1e} %"),
        p if p < 1.0 => format!("{p:.3} %"),
        p => format!("{p:.1} %"),
    }
}
