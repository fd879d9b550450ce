//! The roles of events of one-sided communication.

use retime_model::{LogBuilder, Timestamp};
use retime_otf2::{EventData, Glance, WireError};

use super::moment::Moment;
use super::partners::Partners;
use super::postings::Postings;
use super::twice::Twice;
use super::waiting::Waiting;

/// The role of events with the code `CODE`, one of those of one-sided communication.
pub(super) fn one_sided<const CODE: u8>(
    event: Glance<'_>,
    time: Timestamp,
    partners: &mut Partners<'_>,
    _: &mut Postings<'_>,
    _: &mut Waiting<'_>,
    _: &mut Twice,
    log: &mut LogBuilder,
) -> Result<(), WireError> {
    let windows = &mut partners.windows;
    match event.data_of::<CODE>()? {
        EventData::RmaCollectiveBegin => log.collective_begin(event.number, time),
        EventData::RmaCollectiveEnd {
            collective_op, win, ..
        } => {
            let at = Moment {
                event: event.number,
                time,
            };
            windows.ended(at, collective_op, win, log);
        }
        EventData::RmaPut { win, .. }
        | EventData::RmaGet { win, .. }
        | EventData::RmaAtomic { win, .. } => windows.accessed(win),
        EventData::RmaRequestLock { win, .. }
        | EventData::RmaAcquireLock { win, .. }
        | EventData::RmaTryLock { win, .. } => windows.otherwise(win),
        EventData::RmaGroupSync { win, .. } => windows.grouped(win),
        _ => {}
    }
    Ok(())
}
