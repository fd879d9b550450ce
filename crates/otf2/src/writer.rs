//! Writes OTF2 archives from nothing.
//!
//! An archive is a directory of files: an anchor that names it, the global
//! definitions (what exists: nodes, processes, threads, regions of code,
//! communicators), and for each location, which is a thread or the like, a
//! file of events and a file of local definitions.
//!
//! [`Archive`] is the whole, [`Definitions`] collects what exists, and one
//! [`LocationWriter`] per location takes the events. Locations are independent
//! of each other, so each may be written by a thread of its own. At the end
//! they return how many events they hold and when those happened, which is
//! recorded in the global definitions.
//!
//! ```
//! use retime_otf2::writer::{
//!     Archive, GroupType, LocationGroupType, LocationType, Message, Options, Paradigm,
//!     RegionRole,
//! };
//!
//! # let scratch = tempfile::tempdir()?;
//! # let path = scratch.path().join("traces.otf2");
//! let mut archive = Archive::create(&path, Options::default())?;
//!
//! let definitions = archive.definitions();
//! let machine = definitions.system_tree_node("lab", "machine", None);
//! for rank in 0..2 {
//!     let name = format!("MPI Rank {rank}");
//!     let process =
//!         definitions.location_group(&name, LocationGroupType::Process, Some(machine));
//!     definitions.location(rank, "Master thread", LocationType::CpuThread, process);
//! }
//! definitions.group("", GroupType::CommLocations, Paradigm::Mpi, &[0, 1]);
//! let ranks = definitions.group("", GroupType::CommGroup, Paradigm::Mpi, &[0, 1]);
//! let comm = definitions.comm("MPI_COMM_WORLD", ranks, None);
//! let mpi_send = definitions.region("MPI_Send", RegionRole::PointToPoint, Paradigm::Mpi);
//! let mpi_recv = definitions.region("MPI_Recv", RegionRole::PointToPoint, Paradigm::Mpi);
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
mod calls;
mod chunked;
mod encode;
mod failure;
mod globals;
mod handles;
mod kinds;
mod legacy;
mod local_tables;
mod location;
mod markers;
mod measurement;
mod mpi;
mod threads;

pub use self::{
    archive::{Archive, ArchiveSummary, LocationSummary, Options},
    attributes::{DefinitionType, Value},
    encode::Payload,
    failure::{Error, Result},
    globals::Definitions,
    handles::{
        AttributeRef, CommRef, GroupRef, LocationGroupRef, MetricRef, ParameterRef, RegionRef,
        StringRef, SystemTreeNodeRef,
    },
    kinds::{
        CollectiveOp, GroupType, LocationGroupType, LocationType, MappingType, Paradigm,
        ParadigmClass, RegionRole, SystemTreeDomain,
    },
    local_tables::LocalTables,
    location::LocationWriter,
    markers::{MarkerRef, Markers, Scope, Severity},
    measurement::MetricValue,
    mpi::{Collective, Message, Root},
};
