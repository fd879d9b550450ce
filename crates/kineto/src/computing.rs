//! Kernels that do not communicate: with them devices [compute](crate::busy).

/// The kernels of a file that do not communicate: a bit for each event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Computing {
    bits: Vec<u64>,
}

impl Computing {
    /// Takes one.
    #[inline]
    pub(crate) fn take(&mut self, event: u32) {
        let (word, bit) = (event as usize / 64, event % 64);
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        if let Some(own) = self.bits.get_mut(word) {
            *own |= 1 << bit;
        }
    }

    /// True if an event is one.
    #[inline]
    pub(crate) fn has(&self, event: u32) -> bool {
        let own = self.bits.get(event as usize / 64);
        own.is_some_and(|it| it >> (event % 64) & 1 == 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }
}
