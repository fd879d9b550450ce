//! Who takes part in the operations of [compiled programs](crate::xla): a matter of all files.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::profile::{FileRead, Unused};
use crate::xla;

/// Members of a group of which nothing is said, if there are so many devices in all.
const WITHOUT_GROUPS: usize = 2;

/// The number of members that an operation has of which it is known that all files take part; none
/// has if that is not known of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct All(Option<usize>);

impl All {
    /// The number of members in these files.
    pub(crate) fn of(files: &[FileRead]) -> Self {
        let with_some = files.iter().filter(|it| !it.instructions.is_empty());
        let one_device = |file: &FileRead| {
            let devices: BTreeSet<&str> = file.instructions.iter().map(|it| &*it.device).collect();
            devices.len() <= 1
        };
        let have_one_device = files.iter().all(one_device);
        Self(have_one_device.then(|| with_some.count()))
    }

    /// Takes those instructions of a file for calls of which it is known that all files take part.
    pub(crate) fn take_certain(self, file: &mut FileRead) {
        let mut unused = 0;
        for it in std::mem::take(&mut file.instructions) {
            let members = it.members.unwrap_or(WITHOUT_GROUPS);
            if Some(members) == self.0 {
                file.calls.push(it.call);
            } else {
                unused += 1;
            }
        }
        if unused > 0 {
            file.unused.push(Unused {
                kind: xla::UNUSED,
                track: 0,
                events: unused,
            });
        }
        file.calls.sort_by_key(|it| it.event);
    }
}
