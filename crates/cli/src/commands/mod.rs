//! A file for each command, and what several of them share.

pub(crate) mod apply;
pub(crate) mod asked;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod correct;
pub(crate) mod demo;
pub(crate) mod done;
mod each_event;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod found;
mod fresh;
pub(crate) mod merge;
mod merged;
pub(crate) mod meta;
mod offsets_out;
pub(crate) mod order;
mod outcome;
mod refused;
pub(crate) mod reproduce;
pub(crate) mod simulate;
mod solved;
pub(crate) mod stream;
pub(crate) mod undo;
pub(crate) mod view;
mod written;
