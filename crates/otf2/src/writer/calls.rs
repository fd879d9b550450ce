//! Events of regions of code: enter and leave.

use super::{failure::Result, handles::RegionRef, location::LocationWriter};

const ENTER: u8 = 12;
const LEAVE: u8 = 13;

/// Regions of code.
impl LocationWriter {
    /// A region is entered.
    pub fn enter(&mut self, time: u64, region: RegionRef) -> Result<()> {
        self.start().c32(region.0);
        self.commit(time, ENTER)
    }

    /// A region is left.
    pub fn leave(&mut self, time: u64, region: RegionRef) -> Result<()> {
        self.start().c32(region.0);
        self.commit(time, LEAVE)
    }
}
