//! The end of a comparison: which method to take, and why.

use retime::format_seconds;

use super::model::{ComparedPart, Comparison, ResultPart};
use crate::report::examined;
use crate::report::share::share;

/// The recommendation in a sentence. Where the truth is known the nearest method is named; else the
/// default if it contradicts nothing, since no figure here tells which of the sound ones is nearest,
/// and among the others the one that changes intervals least.
pub(super) fn advice(comparison: &Comparison) -> String {
    let sound = sound(comparison);
    if let Some((method, error)) = nearest(&sound) {
        let error = span(error, comparison);
        return format!(
            "Nearest to the truth of those that contradict nothing: {}, {error} off on average.",
            method.name
        );
    }
    if are_left_alone(comparison) {
        return examined::instead_of_sound(&comparison.examined).map_or_else(
            || "Recorded times contradict nothing: there is nothing to correct.".into(),
            |said| format!("{said}."),
        );
    }
    let auto = sound.iter().find(|it| it.name == "auto");
    let Some(method) = auto.copied().or_else(|| gentlest(&sound)) else {
        return "No method leaves nothing reversed; finer clocks may help: --clocks process or \
                --clocks location."
            .into();
    };
    let figures = method.result.as_ref().map(|it| figures(it, comparison));
    format!(
        "Recommended: {}, {}; retime correct {} {} -o CORRECTED",
        method.name,
        figures.unwrap_or_default(),
        comparison.trace.word,
        method.options
    )
}

/// True if nothing contradicts recorded times, as far as anything was looked at, and no truth shows that
/// others are nearer.
pub(super) fn are_left_alone(comparison: &Comparison) -> bool {
    let sound = sound(comparison);
    nearest(&sound).is_none() && sound.iter().any(|it| it.options.is_empty())
}

fn sound(comparison: &Comparison) -> Vec<&ComparedPart> {
    let methods = comparison.methods.iter();
    methods.filter(|it| it.is_sound()).collect()
}

/// The method that changes no interval by as much as the others do some.
fn gentlest<'a>(methods: &[&'a ComparedPart]) -> Option<&'a ComparedPart> {
    let changes = methods.iter().filter_map(|&it| {
        let change = it.result.as_ref()?.interval_change_largest;
        Some((it, change))
    });
    let least = changes.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(least.0)
}

/// The method with the smallest mean error, and that error in ticks.
fn nearest<'a>(methods: &[&'a ComparedPart]) -> Option<(&'a ComparedPart, f64)> {
    let errors = methods.iter().filter_map(|&it| {
        let accuracy = it.result.as_ref()?.accuracy.as_ref()?;
        Some((it, accuracy.relative_ticks.mean_abs))
    });
    errors.min_by(|a, b| a.1.total_cmp(&b.1))
}

fn figures(result: &ResultPart, comparison: &Comparison) -> String {
    let change = share(result.interval_change_largest);
    let bound = result.bound.as_ref().map_or(String::new(), |it| {
        let mean = span(it.mean_ticks, comparison);
        format!(", certain to ±{mean} on average")
    });
    format!("which leaves nothing reversed and changes no interval by more than {change}{bound}")
}

fn span(ticks: f64, comparison: &Comparison) -> String {
    format_seconds(ticks / comparison.trace.ticks_per_second as f64)
}
