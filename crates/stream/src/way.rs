//! The way of a clock from one final point to the next, for what lies between.

use retime_numerics::taut_string::interpolate;

/// A final point of the string.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knot {
    pub(crate) raw: i64,
    /// The clock without its jumps.
    pub(crate) x: i64,
    /// The height of the string above it.
    pub(crate) height: i64,
}

impl Knot {
    pub(crate) fn time(self) -> i64 {
        self.x + self.height
    }
}

/// Straight in raw time, but for a bend where a lead was gone.
pub(crate) struct Way {
    /// Raw and corrected times.
    points: [(i64, i64); 3],
}

impl Way {
    /// From `from`, with the jumps `low` before it, to `to`.
    pub(crate) fn new(from: Option<Knot>, low: i64, gone: Option<i64>, to: Knot) -> Self {
        let end = (to.raw, to.time());
        let Some(from) = from else {
            // Before the first point everything is shifted like it.
            return Self { points: [end; 3] };
        };
        let start = (from.raw, from.time());
        let gone = gone.filter(|gone| from.raw < *gone && *gone < to.raw);
        let bend = gone.map_or(end, |gone| {
            let along = gone - low - from.x;
            let climbed = if to.x > from.x {
                interpolate(along.max(0), to.height - from.height, to.x - from.x)
            } else {
                0
            };
            (gone, gone - low + from.height + climbed)
        });
        Self {
            points: [start, bend, end],
        }
    }

    /// The corrected time at a raw time on the way.
    pub(crate) fn at(&self, raw: i64) -> i64 {
        let [start, bend, end] = self.points;
        let (from, to) = if raw < bend.0 {
            (start, bend)
        } else {
            (bend, end)
        };
        if to.0 <= from.0 {
            return from.1 + raw - from.0;
        }
        from.1 + interpolate(raw - from.0, to.1 - from.1, to.0 - from.0)
    }
}
