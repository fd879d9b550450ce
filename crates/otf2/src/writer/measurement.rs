//! Events of the recording itself: interruptions, metrics, parameters.

use super::{
    failure::{Error, Result},
    handles::{MetricRef, ParameterRef, StringRef},
    location::LocationWriter,
};

const BUFFER_FLUSH: u8 = 10;
const MEASUREMENT_ON_OFF: u8 = 11;
const METRIC: u8 = 31;
const PARAMETER_STRING: u8 = 32;
const PARAMETER_INT: u8 = 33;
const PARAMETER_UNSIGNED_INT: u8 = 34;
const PROGRAM_BEGIN: u8 = 83;
const PROGRAM_END: u8 = 84;
const ON: u8 = 1;
const OFF: u8 = 2;

/// One value of a metric event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MetricValue {
    /// An unsigned integer.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A floating point number.
    Float(f64),
}

impl MetricValue {
    /// Type and bit pattern: all values are stored as 64-bit patterns.
    fn encoded(self) -> (u8, u64) {
        match self {
            Self::Unsigned(value) => (4, value),
            Self::Signed(value) => (8, value.cast_unsigned()),
            Self::Float(value) => (10, value.to_bits()),
        }
    }
}

/// The recording.
impl LocationWriter {
    /// The recording tool wrote its buffer to disk from `time` to `stop`.
    pub fn buffer_flush(&mut self, time: u64, stop: u64) -> Result<()> {
        self.start().x64(stop);
        self.commit(time, BUFFER_FLUSH)?;
        self.note_time(stop);
        Ok(())
    }

    /// Recording is switched on or off.
    pub fn measurement_on_off(&mut self, time: u64, on: bool) -> Result<()> {
        self.start().u8(if on { ON } else { OFF });
        self.commit(time, MEASUREMENT_ON_OFF)
    }

    /// The values of all members of a metric class, at most 255.
    pub fn metric(&mut self, time: u64, metric: MetricRef, values: &[MetricValue]) -> Result<()> {
        let count = u8::try_from(values.len()).map_err(|_| Error::TooManyElements {
            code: METRIC,
            count: values.len(),
        })?;
        let payload = self.start();
        payload.c32(metric.0).u8(count);
        for value in values {
            let (kind, bits) = value.encoded();
            payload.u8(kind).c64(bits);
        }
        self.commit(time, METRIC)
    }

    /// A parameter has this text as its value.
    pub fn parameter_string(
        &mut self,
        time: u64,
        parameter: ParameterRef,
        value: StringRef,
    ) -> Result<()> {
        self.start().c32(parameter.0).c32(value.0);
        self.commit(time, PARAMETER_STRING)
    }

    /// A parameter has this signed number as its value.
    pub fn parameter_int(&mut self, time: u64, parameter: ParameterRef, value: i64) -> Result<()> {
        self.start().c32(parameter.0).s64(value);
        self.commit(time, PARAMETER_INT)
    }

    /// A parameter has this unsigned number as its value.
    pub fn parameter_unsigned(
        &mut self,
        time: u64,
        parameter: ParameterRef,
        value: u64,
    ) -> Result<()> {
        self.start().c32(parameter.0).c64(value);
        self.commit(time, PARAMETER_UNSIGNED_INT)
    }

    /// The program begins.
    pub fn program_begin(
        &mut self,
        time: u64,
        name: StringRef,
        arguments: &[StringRef],
    ) -> Result<()> {
        let payload = self.start();
        payload.c32(name.0).c32(arguments.len() as u32);
        for argument in arguments {
            payload.c32(argument.0);
        }
        self.commit(time, PROGRAM_BEGIN)
    }

    /// The program ends, with an exit status if one is known.
    pub fn program_end(&mut self, time: u64, status: Option<i64>) -> Result<()> {
        self.start().s64(status.unwrap_or(i64::MIN));
        self.commit(time, PROGRAM_END)
    }
}
