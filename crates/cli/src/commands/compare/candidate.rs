//! Which methods are compared.

use clap::ValueEnum;

use crate::method::MethodName;

/// A row of the comparison.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// What it is called.
    pub(super) name: String,
    /// Its method; `None` for the recorded times.
    pub(super) method: Option<MethodName>,
    /// Options of `retime correct` that give it.
    pub(super) options: String,
}

/// The default method and the logical clocks, and the options that make them.
const PLAIN: [(&str, MethodName, &str); 7] = [
    ("auto", MethodName::Auto, ""),
    ("clc", MethodName::Clc, ""),
    ("clc, backward", MethodName::Clc, " --backward"),
    ("clc, 1997", MethodName::Clc, " --controller 1997"),
    ("clc, abcd", MethodName::Clc, " --controller abcd"),
    ("clc, passes", MethodName::Clc, " --controller passes"),
    ("simple", MethodName::Simple, ""),
];

/// The recorded times, the default, logical clocks, and all estimators, alone and followed by
/// the controlled logical clock.
pub(super) fn all() -> Vec<Candidate> {
    let recorded = Candidate {
        name: "recorded".into(),
        method: None,
        options: String::new(),
    };
    let plain = PLAIN.iter().map(|&(name, method, options)| {
        let options = format!("--method {}{options}", method.as_str());
        candidate(name.into(), method, options)
    });
    let estimators = MethodName::value_variants().iter().copied();
    let estimators = estimators.filter(|method| method.is_estimator());
    let estimators = estimators.flat_map(|method| {
        let name = method.as_str();
        let options = format!("--method {name}");
        [
            candidate(name.clone(), method, format!("{options} --repair off")),
            candidate(format!("{name}, clc"), method, options),
        ]
    });
    std::iter::once(recorded)
        .chain(plain)
        .chain(estimators)
        .collect()
}

fn candidate(name: String, method: MethodName, options: String) -> Candidate {
    Candidate {
        name,
        method: Some(method),
        options,
    }
}
