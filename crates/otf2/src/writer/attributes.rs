//! The attributes of the next event, until it comes.

use super::{
    encode::Payload,
    failure::{WriteError, WriteResult},
};
use crate::attribute::AttributeValue;
use crate::refs::AttributeRef;

/// The attributes of the next event.
#[derive(Debug, Default)]
pub(super) struct Pending {
    attributes: Vec<AttributeRef>,
    values: Payload,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.attributes.is_empty()
    }

    pub(super) fn attach(&mut self, attribute: AttributeRef, value: AttributeValue) -> WriteResult {
        // libotf2 stops reading a location at a list with a repeated attribute.
        if self.attributes.contains(&attribute) {
            return Err(WriteError::RepeatedAttribute(attribute.0));
        }
        self.attributes.push(attribute);
        self.values.c32(attribute.0);
        value.write(&mut self.values);
        Ok(())
    }

    /// Moves the payload of the attribute list to `payload`.
    pub(super) fn take(&mut self, payload: &mut Payload) {
        payload.c32(self.attributes.len() as u32);
        payload.raw(self.values.as_bytes());
        self.attributes.clear();
        self.values.clear();
    }
}
