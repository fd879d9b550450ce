//! Who takes part in the operations of [compiled programs](crate::xla): a matter of all files.

use std::collections::BTreeSet;

use crate::profile::FileRead;
use crate::xla;

/// Members of a group of which nothing is said, if there are so many devices in all.
const WITHOUT_GROUPS: usize = 2;

/// Takes those instructions of all files for calls of which it is known that all files take part.
pub(crate) fn take_certain(files: &mut [FileRead]) {
    let with_some = files
        .iter()
        .filter(|it| !it.instructions.is_empty())
        .count();
    let one_device = |file: &FileRead| {
        let devices: BTreeSet<&str> = file.instructions.iter().map(|it| &*it.device).collect();
        devices.len() <= 1
    };
    let have_one_device = files.iter().all(one_device);
    for file in files {
        let mut unused = 0;
        for it in std::mem::take(&mut file.instructions) {
            let members = it.members.unwrap_or(WITHOUT_GROUPS);
            if have_one_device && members == with_some {
                file.calls.push(it.call);
            } else {
                unused += 1;
            }
        }
        if unused > 0 {
            file.unused.push((xla::UNUSED, unused));
        }
        file.calls.sort_by_key(|it| it.event);
    }
}
