//! Few straight pieces that lie nowhere below a function of many.

/// A point of several functions at once; `None` where one is unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct JointSample<const N: usize> {
    pub(super) at: i64,
    pub(super) values: [Option<f64>; N],
}

/// Knots of piecewise linear functions that lie nowhere below those through
/// `samples`, and at most `tolerance` above them. From each knot the piece is
/// drawn as far as one straight line stays within that corridor.
pub(super) fn cover<const N: usize>(
    samples: &[JointSample<N>],
    tolerance: f64,
) -> Vec<JointSample<N>> {
    let mut knots = Vec::new();
    let mut open: Option<Fan<N>> = None;
    let mut previous: Option<&JointSample<N>> = None;
    for sample in samples {
        let extended = open.and_then(|piece| piece.extended(sample, tolerance));
        open = Some(match (extended, open, previous) {
            (Some(piece), ..) => piece,
            (None, Some(piece), Some(before)) => {
                let end = piece.end(before);
                push(&mut knots, end);
                let begun = Fan::at(end).extended(sample, tolerance);
                begun.unwrap_or_else(|| {
                    let start = raised(sample, tolerance);
                    push(&mut knots, start);
                    Fan::at(start)
                })
            }
            _ => {
                let start = raised(sample, tolerance);
                push(&mut knots, start);
                Fan::at(start)
            }
        });
        previous = Some(sample);
    }
    if let (Some(piece), Some(last)) = (open, previous) {
        push(&mut knots, piece.end(last));
    }
    knots
}

fn push<const N: usize>(knots: &mut Vec<JointSample<N>>, knot: JointSample<N>) {
    if knots.last().is_none_or(|last| last.at < knot.at) {
        knots.push(knot);
    }
}

/// In the middle of the corridor.
fn raised<const N: usize>(sample: &JointSample<N>, tolerance: f64) -> JointSample<N> {
    JointSample {
        at: sample.at,
        values: sample.values.map(|value| Some(value? + tolerance / 2.0)),
    }
}

/// A knot, and the slopes at which straight lines from it stay in the corridor.
#[derive(Clone, Copy)]
struct Fan<const N: usize> {
    start: JointSample<N>,
    slopes: [(f64, f64); N],
}

impl<const N: usize> Fan<N> {
    fn at(start: JointSample<N>) -> Self {
        Self {
            start,
            slopes: [(f64::NEG_INFINITY, f64::INFINITY); N],
        }
    }

    /// With the corridor at a further sample; `None` if no line passes it.
    fn extended(mut self, sample: &JointSample<N>, tolerance: f64) -> Option<Self> {
        let run = (sample.at - self.start.at) as f64;
        let ends = self.start.values.iter().zip(&sample.values);
        for ((from, to), (least, most)) in ends.zip(&mut self.slopes) {
            let (from, to) = match (from, to) {
                (Some(from), Some(to)) => (from, to),
                (None, None) => continue,
                _ => return None,
            };
            *least = least.max((to - from) / run);
            *most = most.min((to + tolerance - from) / run);
            if *least > *most {
                return None;
            }
        }
        Some(self)
    }

    /// Where the piece is at a sample that it has been extended to.
    fn end(&self, sample: &JointSample<N>) -> JointSample<N> {
        let run = (sample.at - self.start.at) as f64;
        let mut end = *sample;
        let starts = self.start.values.iter().zip(&self.slopes);
        for (value, (from, &(least, most))) in end.values.iter_mut().zip(starts) {
            if let (Some(value), Some(from)) = (value.as_mut(), from)
                && run > 0.0
            {
                *value = value.max(from + f64::midpoint(least, most) * run);
            }
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[(i64, f64)]) -> Vec<JointSample<1>> {
        let sample = |&(at, value): &(i64, f64)| JointSample {
            at,
            values: [Some(value)],
        };
        values.iter().map(sample).collect()
    }

    #[test]
    fn a_noisy_line_needs_two_knots() {
        let noisy: Vec<_> = (0..100)
            .map(|at| (at, at as f64 + (at % 3) as f64))
            .collect();
        let knots = cover(&samples(&noisy), 4.0);
        assert_eq!(knots.len(), 2, "{knots:?}");
    }

    #[test]
    fn a_jump_is_kept() {
        let jump = [(0, 1.0), (10, 1.0), (11, 50.0), (20, 50.0)];
        let knots = cover(&samples(&jump), 1.0);
        assert_eq!(knots.len(), 4, "{knots:?}");
    }
}
