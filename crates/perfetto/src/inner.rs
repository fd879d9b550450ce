//! Times within a packet, beside its timestamp, and where they stand.
//!
//! ```text
//! ftrace_events { event { timestamp: 70 } event { timestamp: 75 } }            each a time
//! ftrace_events { compact_sched { switch_timestamp: [70, 5, 8] } }             70, 75, 83
//! sys_stats { collection_end_timestamp: 90 }                                   a time
//! ```
//!
//! Times of the kernel and of readings of the system are by the clock that counts from the
//! boot of the machine, those of its log by that of the day. A time of 0 says nothing. Some stand
//! in units or forms of their own; a packet that has such cannot be given other times.
//!
//! Source: `protos/perfetto/trace` of <https://github.com/google/perfetto>; which clock a time is
//! by, `src/trace_processor/importers` there.

use retime_perfetto_wire::fields::{
    android_log, ftrace, listed_process, process_descriptor, process_stats, process_tree,
    sys_stats, thread_descriptor, trace_packet, track_descriptor, track_event, ui_state,
};
use retime_perfetto_wire::read::{Damaged, Field, Fields, LONGEST_VARINT, Value, varint};

use crate::clocks::{BOOTTIME, OF_TRACE, REALTIME};

/// Fields of a message by number, with the times in them.
type InnerPlaces = &'static [(u32, InnerPlace)];

/// A place within a packet where times stand.
#[derive(Clone, Copy)]
pub(crate) enum InnerPlace {
    /// A message that has some.
    Within(InnerPlaces),
    /// A number that is a time by this clock.
    Time(u32),
    /// Numbers in a row, the first a time by this clock, each other a step from the one before.
    Steps(u32),
    /// A field (bytes, or a number other than 0) for whose sake the times of the packet are not
    /// written anew; the reason in words.
    Unwritten(&'static str),
}

use self::InnerPlace::{Steps, Time, Unwritten, Within};

/// Events of the kernel that say another time than their own.
const OWN_TIME: InnerPlace = Unwritten(
    "an event of the kernel (ftrace) that says a time of its own, as gpu_work_period does",
);

/// The message on events that count from a time of their thread.
const FROM_THREAD: InnerPlace = Unwritten(
    "events that count microseconds from a time of their thread, as was done before packets had \
     times (timestamp_delta_us)",
);

/// The message on numbers in a row that stand apart, which no writer of Perfetto does.
const SCATTERED: &str = "switches of the scheduler that are not in one row";

const FTRACE_EVENT: InnerPlaces = &[
    (ftrace::EVENT_TIMESTAMP, Time(BOOTTIME)),
    (ftrace::GPU_WORK_PERIOD, OWN_TIME),
    (ftrace::THERMAL_EXYNOS_ACPM_BULK, OWN_TIME),
    (ftrace::PARAM_SET_VALUE_CPM, OWN_TIME),
    (ftrace::FWTP_PERFETTO_COUNTER, OWN_TIME),
    (ftrace::FWTP_PERFETTO_SLICE, OWN_TIME),
];

const FTRACE: InnerPlaces = &[
    (
        ftrace::CLOCK,
        Unwritten("events of the kernel (ftrace) by another clock than that of the boot"),
    ),
    (ftrace::EVENT, Within(FTRACE_EVENT)),
    (
        ftrace::COMPACT_SCHED,
        Within(&[
            (ftrace::SWITCH_TIMESTAMP, Steps(BOOTTIME)),
            (ftrace::WAKING_TIMESTAMP, Steps(BOOTTIME)),
        ]),
    ),
    (
        ftrace::ERROR,
        Within(&[(ftrace::ERROR_TIMESTAMP, Time(BOOTTIME))]),
    ),
    (ftrace::LAST_READ_EVENT_TIMESTAMP, Time(BOOTTIME)),
    (ftrace::PREVIOUS_BUNDLE_END_TIMESTAMP, Time(BOOTTIME)),
];

const PROCESS: InnerPlaces = &[(process_descriptor::START_TIMESTAMP_NS, Time(OF_TRACE))];
const THREAD: InnerPlaces = &[(thread_descriptor::REFERENCE_TIMESTAMP_US, FROM_THREAD)];

/// The times in a field of a packet; nothing if it has none.
pub(crate) fn place(field: u32) -> Option<InnerPlace> {
    Some(match field {
        trace_packet::FTRACE_EVENTS => Within(FTRACE),
        trace_packet::PROCESS_TREE => Within(&[
            (
                process_tree::PROCESSES,
                Within(&[(listed_process::PROCESS_START_FROM_BOOT, Time(BOOTTIME))]),
            ),
            (process_tree::COLLECTION_END_TIMESTAMP, Time(BOOTTIME)),
        ]),
        trace_packet::PROCESS_STATS => {
            Within(&[(process_stats::COLLECTION_END_TIMESTAMP, Time(BOOTTIME))])
        }
        trace_packet::SYS_STATS => Within(&[(sys_stats::COLLECTION_END_TIMESTAMP, Time(BOOTTIME))]),
        trace_packet::ANDROID_LOG => Within(&[(
            android_log::EVENTS,
            Within(&[(android_log::EVENT_TIMESTAMP, Time(REALTIME))]),
        )]),
        trace_packet::UI_STATE => Within(&[
            (ui_state::TIMELINE_START_TS, Time(OF_TRACE)),
            (ui_state::TIMELINE_END_TS, Time(OF_TRACE)),
        ]),
        trace_packet::PROCESS_DESCRIPTOR => Within(PROCESS),
        trace_packet::THREAD_DESCRIPTOR => Within(THREAD),
        trace_packet::TRACK_DESCRIPTOR => Within(&[
            (track_descriptor::PROCESS, Within(PROCESS)),
            (track_descriptor::THREAD, Within(THREAD)),
        ]),
        trace_packet::TRACK_EVENT => Within(&[
            (track_event::TIMESTAMP_DELTA_US, FROM_THREAD),
            (track_event::TIMESTAMP_ABSOLUTE_US, FROM_THREAD),
        ]),
        other => Unwritten(unwritten(other)?),
    })
}

/// Fields of packets whose times stand in forms or units that are not written anew, in words.
fn unwritten(field: u32) -> Option<&'static str> {
    Some(match field {
        trace_packet::CHROME_EVENTS => "events of Chrome before track events",
        trace_packet::PROFILE_PACKET => "samples of memory",
        trace_packet::STREAMING_ALLOCATION | trace_packet::STREAMING_FREE => {
            "allocations of memory"
        }
        trace_packet::STREAMING_PROFILE_PACKET => {
            "samples of stacks that count from a time of their thread"
        }
        trace_packet::TRACK_EVENT_RANGE_OF_INTEREST => "a range of interest",
        trace_packet::ETW_EVENTS => "events of Windows (ETW)",
        trace_packet::POWER_RAILS => "readings of power rails",
        trace_packet::ENTITY_STATE_RESIDENCY => "residencies in states of power",
        trace_packet::STATSD_ATOM => "atoms of statsd",
        trace_packet::VULKAN_MEMORY_EVENT => "events of Vulkan's memory",
        trace_packet::PIXEL_MODEM_EVENTS => "events of a modem",
        trace_packet::EVDEV_EVENT => "events of input devices",
        trace_packet::SURFACEFLINGER_LAYERS_SNAPSHOT
        | trace_packet::SURFACEFLINGER_TRANSACTIONS
        | trace_packet::SHELL_TRANSITION
        | trace_packet::PROTOLOG_MESSAGE
        | trace_packet::WINSCOPE_EXTENSIONS => "states of windows (Winscope)",
        trace_packet::PROTOVMS => "packets within a packet (ProtoVM)",
        _ => return None,
    })
}

/// A time as it stands within a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InnerTime {
    /// The number of its clock.
    pub(crate) clock: u32,
    pub(crate) shown: u64,
}

fn within(places: InnerPlaces, field: &Field<'_>) -> Option<InnerPlace> {
    let known = places.iter().find(|it| it.0 == field.number);
    known.map(|it| it.1)
}

/// Adds the times in a field, in the order of its bytes; returns what is not written anew.
pub(crate) fn times(
    field: &Field<'_>,
    place: InnerPlace,
    found: &mut Vec<InnerTime>,
) -> Result<Option<&'static str>, Damaged> {
    let mut unwritten = None;
    match (place, field.value) {
        (Within(places), Value::Bytes(message)) => {
            let mut rows = Vec::new();
            for field in Fields::of(message) {
                let field = field?;
                let Some(place) = within(places, &field) else {
                    continue;
                };
                unwritten = times(&field, place, found)?.or(unwritten);
                if let Steps(_) = place {
                    let goes_on = rows.contains(&field.number);
                    unwritten = unwritten.or(goes_on.then_some(SCATTERED));
                    rows.push(field.number);
                }
            }
        }
        (Time(clock), Value::Varint(shown)) if shown != 0 => {
            found.push(InnerTime { clock, shown });
        }
        (Steps(clock), Value::Bytes(_)) => {
            let mut shown = 0_u64;
            for it in steps(field.value) {
                shown = shown.wrapping_add(it.step);
                found.push(InnerTime { clock, shown });
            }
        }
        (Steps(_), _) => unwritten = Some(SCATTERED),
        (Unwritten(what), value) if value.number() != Some(0) => unwritten = Some(what),
        _ => {}
    }
    Ok(unwritten)
}

/// A number in a row, and the bytes it takes.
struct Step {
    step: u64,
    width: usize,
}

/// The numbers in a row that a value is, up to the first that is damaged.
fn steps(value: Value<'_>) -> Vec<Step> {
    let (bytes, mut at) = (value.bytes().unwrap_or_default(), 0);
    let mut steps = Vec::new();
    while at < bytes.len() {
        let start = at;
        let Ok(step) = varint(bytes, &mut at) else {
            break;
        };
        let width = at - start;
        steps.push(Step { step, width });
    }
    steps
}

/// Writes numbers: the value, the one that it stands for, and the bytes which that took.
pub(crate) type Put<'a> = dyn FnMut(&mut Vec<u8>, u64, u64, usize) -> Option<()> + 'a;

/// Writes a field anew with other times, which come in the order of [`times`]; nothing if these
/// or the ways of writing come to an end.
pub(crate) fn written_anew(
    message: &[u8],
    field: &Field<'_>,
    place: InnerPlace,
    becomes: &mut dyn Iterator<Item = u64>,
    put: &mut Put<'_>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let head = message.get(field.start..field.value_start)?;
    match (place, field.value) {
        (Within(places), Value::Bytes(inner)) => {
            let mut own = Vec::with_capacity(inner.len() + 16);
            for field in Fields::of(inner).map_while(Result::ok) {
                match within(places, &field) {
                    Some(place) => written_anew(inner, &field, place, becomes, put, &mut own)?,
                    None => own.extend_from_slice(inner.get(field.start..field.end)?),
                }
            }
            framed(out, head, inner.len(), &own, put)
        }
        (Time(_), Value::Varint(was)) if was != 0 => {
            out.extend_from_slice(head);
            put(out, becomes.next()?, was, field.end - field.value_start)
        }
        (Steps(_), Value::Bytes(bytes)) => {
            let mut own = Vec::with_capacity(bytes.len() + LONGEST_VARINT);
            let (mut last, mut read) = (0_u64, 0);
            for it in steps(field.value) {
                let next = becomes.next()?;
                put(&mut own, next.wrapping_sub(last), it.step, it.width)?;
                last = next;
                read += it.width;
            }
            own.extend_from_slice(bytes.get(read..)?);
            framed(out, head, bytes.len(), &own, put)
        }
        _ => {
            out.extend_from_slice(message.get(field.start..field.end)?);
            Some(())
        }
    }
}

/// Appends a field with another value than the one of `was` bytes that had this head.
pub(crate) fn framed(
    out: &mut Vec<u8>,
    head: &[u8],
    was: usize,
    value: &[u8],
    put: &mut Put<'_>,
) -> Option<()> {
    let key = head.iter().take_while(|it| **it >= 0x80).count() + 1;
    out.extend_from_slice(head.get(..key)?);
    put(out, value.len() as u64, was as u64, head.len() - key)?;
    out.extend_from_slice(value);
    Some(())
}

/// Shows all of a field to `add` but its times, and the lengths that change with these.
pub(crate) fn rest(
    message: &[u8],
    field: &Field<'_>,
    place: InnerPlace,
    add: &mut dyn FnMut(&[u8]),
) {
    let whole = message.get(field.start..field.end).unwrap_or_default();
    match (place, field.value) {
        (Within(places), Value::Bytes(inner)) => {
            let key = whole.iter().take_while(|it| **it >= 0x80).count() + 1;
            add(whole.get(..key).unwrap_or_default());
            let mut read = 0;
            for field in Fields::of(inner).map_while(Result::ok) {
                read = field.end;
                match within(places, &field) {
                    Some(place) => rest(inner, &field, place, add),
                    None => add(inner.get(field.start..field.end).unwrap_or_default()),
                }
            }
            add(inner.get(read..).unwrap_or_default());
        }
        (Time(_), Value::Varint(was)) if was != 0 => {}
        (Steps(_), Value::Bytes(_)) => {}
        _ => add(whole),
    }
}
