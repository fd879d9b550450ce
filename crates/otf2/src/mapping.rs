//! Mapping tables: from ids that a location made up to ids of the archive.
//!
//! While a program runs its processes cannot agree on ids, so each numbers
//! its regions and communicators itself. Afterwards every location gets a
//! table per class of definitions. On disk a table is a number of pairs, a
//! mode and the pairs: `dense` lists global ids for the local ids 0, 1, 2 …,
//! `sparse` lists both.
//!
//! An id that is not in the table stays as it is.
//!
//! ```
//! use retime_otf2::{Cursor, Endian, IdMap, MappingTable};
//!
//! let bytes = [0x01, 2, 1, /* 0 -> 5 */ 0x00, 0x01, 5, /* 9 -> 6 */ 0x01, 9, 0x01, 6];
//! let map = IdMap::read(&mut Cursor::new(&bytes, Endian::Little))?;
//! assert_eq!(map.pairs().collect::<Vec<_>>(), [(0, 5), (9, 6)]);
//! let table = MappingTable::new(&map);
//! assert_eq!([table.get(0), table.get(1), table.get(9)], [5, 1, 6]);
//! # Ok::<(), retime_otf2::WireError>(())
//! ```

use crate::error::WireError;
use crate::schema::{Class, MAPPED_CLASSES, id_mask};
use crate::wire::{Cursor, Endian};

/// The encoded pairs of a mapping table, checked to be complete.
#[derive(Clone, Copy, Debug)]
pub struct IdMap<'a> {
    /// How the pairs are listed: 0 dense, 1 sparse.
    pub mode: u8,
    endian: Endian,
    // Records are shorter than a chunk. Small types keep field values small.
    count: u32,
    pairs: &'a [u8],
}

impl<'a> IdMap<'a> {
    /// Reads a table and moves the cursor behind it.
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self, WireError> {
        let count = cursor.c64()?;
        let mode = cursor.u8()?;
        let numbers = if mode == 0 { 1 } else { 2 };
        let count = cursor.check_count(count, numbers)?;
        let map = Self {
            mode,
            endian: cursor.endian(),
            count: count as u32,
            pairs: cursor.rest(),
        };
        for _ in 0..count * numbers {
            cursor.c64()?;
        }
        Ok(map)
    }

    /// Number of pairs.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// True if there are no pairs.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Local and global ids.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> + use<'a> {
        let dense = self.mode == 0;
        let mut cursor = Cursor::new(self.pairs, self.endian);
        (0..u64::from(self.count)).map_while(move |position| {
            let local = if dense { position } else { cursor.c64().ok()? };
            Some((local, cursor.c64().ok()?))
        })
    }
}

impl PartialEq for IdMap<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.mode == other.mode && self.pairs().eq(other.pairs())
    }
}

/// A mapping table in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MappingTable {
    /// Global ids of the local ids from 0.
    Dense(Vec<u64>),
    /// Local and global ids, sorted by local id.
    Sparse(Vec<(u64, u64)>),
}

impl MappingTable {
    /// Copies the pairs. If a local id is listed twice, the first one counts.
    pub fn new(map: &IdMap<'_>) -> Self {
        if map.mode == 0 {
            return Self::Dense(map.pairs().map(|(_, global)| global).collect());
        }
        let mut pairs: Vec<(u64, u64)> = map.pairs().collect();
        pairs.sort_by_key(|&(local, _)| local);
        pairs.dedup_by_key(|&mut (local, _)| local);
        Self::Sparse(pairs)
    }

    /// The global id of a local id; the same if it is not listed.
    #[inline]
    pub fn get(&self, local: u64) -> u64 {
        match self {
            Self::Dense(globals) => usize::try_from(local)
                .ok()
                .and_then(|index| globals.get(index))
                .copied()
                .unwrap_or(local),
            Self::Sparse(pairs) => pairs
                .binary_search_by_key(&local, |&(local, _)| local)
                .ok()
                .and_then(|index| pairs.get(index))
                .map_or(local, |&(_, global)| global),
        }
    }
}

/// The mapping tables of a location, one per class at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mappings {
    tables: [Option<MappingTable>; MAPPED_CLASSES],
}

impl Mappings {
    /// Adds a table. `false` if the class has one already, which then stays,
    /// or has no tables at all.
    pub fn add(&mut self, class: Class, table: MappingTable) -> bool {
        match self.tables.get_mut(class as usize) {
            Some(slot @ None) => {
                *slot = Some(table);
                true
            }
            _ => false,
        }
    }

    /// The table of a class.
    pub fn table(&self, class: Class) -> Option<&MappingTable> {
        self.tables.get(class as usize).and_then(Option::as_ref)
    }

    /// True if there are no tables.
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(Option::is_none)
    }

    /// The global id, cut to the width that ids of this class have.
    #[inline]
    pub fn apply(&self, class: Class, local: u64) -> u64 {
        match self.table(class) {
            Some(table) => table.get(local) & id_mask(class),
            None => local,
        }
    }
}
