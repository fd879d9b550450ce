//! Writes OTF2 archives from nothing.
//!
//! An archive is a directory of files: an anchor that names it, the global
//! definitions (what exists: nodes, processes, threads, regions of code,
//! communicators), and for each location, which is a thread or the like, a
//! file of events and a file of local definitions.
//!
//! [`ArchiveWriter`] is the whole, [`DefinitionsWriter`] collects what exists, and one
//! [`LocationWriter`] per location takes the events. Locations are independent
//! of each other, so each may be written by a thread of its own. At the end
//! they return how many events they hold and when those happened, which is
//! recorded in the global definitions.
//!
//! ```
//! use retime_otf2::writer::{ArchiveWriter, Message, WriteOptions};
//! use retime_otf2::{GroupType, LocationGroupType, LocationType, Paradigm, RegionRole};
//!
//! # let scratch = tempfile::tempdir()?;
//! # let path = scratch.path().join("traces.otf2");
//! let mut archive = ArchiveWriter::create(&path, WriteOptions::default())?;
//!
//! let definitions = archive.definitions();
//! let machine = definitions.system_tree_node("lab", "machine", None);
//! for rank in 0..2 {
//!     let name = format!("MPI Rank {rank}");
//!     let process =
//!         definitions.location_group(&name, LocationGroupType::PROCESS, Some(machine));
//!     definitions.location(rank, "Master thread", LocationType::CPU_THREAD, process);
//! }
//! definitions.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &[0, 1]);
//! let ranks = definitions.group("", GroupType::COMM_GROUP, Paradigm::MPI, &[0, 1]);
//! let comm = definitions.comm("MPI_COMM_WORLD", ranks, None);
//! let mpi_send = definitions.region("MPI_Send", RegionRole::POINT2POINT, Paradigm::MPI);
//! let mpi_recv = definitions.region("MPI_Recv", RegionRole::POINT2POINT, Paradigm::MPI);
//!
//! let mut sender = archive.location(0)?;
//! sender.enter(100, mpi_send)?;
//! sender.send(101, Message { peer: 1, comm, tag: 7, length: 64 })?;
//! sender.leave(110, mpi_send)?;
//!
//! let mut receiver = archive.location(1)?;
//! receiver.enter(90, mpi_recv)?;
//! receiver.recv(350, Message { peer: 0, comm, tag: 7, length: 64 })?;
//! receiver.leave(351, mpi_recv)?;
//!
//! let written = archive.finish([sender.finish()?, receiver.finish()?])?;
//! assert_eq!((written.locations, written.events), (2, 6));
//! assert_eq!(written.times, Some((90, 351)));
//! # assert!(path.exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod attributes;
mod chunked;
mod encode;
mod failure;
mod globals;
mod legacy;
mod local_tables;
mod location;
mod markers;
mod mpi;
mod options;
mod summary;

pub use self::{
    archive::{ArchiveSummary, ArchiveWriter},
    encode::Payload,
    failure::{WriteError, WriteResult},
    globals::DefinitionsWriter,
    local_tables::LocalDefinitionsWriter,
    location::LocationWriter,
    markers::{MarkerRef, MarkersWriter},
    mpi::{Collective, Message},
    options::WriteOptions,
    summary::LocationSummary,
};
