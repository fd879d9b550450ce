//! The regions of code that simulated programs enter and leave.

use retime_otf2::writer::DefinitionsWriter;
use retime_otf2::{Paradigm, RegionRef, RegionRole};

/// `main`
pub const MAIN: RegionRef = RegionRef(0);
/// `compute`
pub const COMPUTE: RegionRef = RegionRef(1);
/// `MPI_Init`
pub const INIT: RegionRef = RegionRef(2);
/// `MPI_Finalize`
pub const FINALIZE: RegionRef = RegionRef(3);
/// `MPI_Send`
pub const SEND: RegionRef = RegionRef(4);
/// `MPI_Recv`
pub const RECV: RegionRef = RegionRef(5);
/// `MPI_Isend`
pub const ISEND: RegionRef = RegionRef(6);
/// `MPI_Irecv`
pub const IRECV: RegionRef = RegionRef(7);
/// `MPI_Waitall`
pub const WAITALL: RegionRef = RegionRef(8);
/// `MPI_Barrier`
pub const BARRIER: RegionRef = RegionRef(9);
/// `MPI_Allreduce`
pub const ALLREDUCE: RegionRef = RegionRef(10);

const NAMES: [(RegionRef, &str, RegionRole, Paradigm); 11] = [
    (MAIN, "main", RegionRole::FUNCTION, Paradigm::USER),
    (COMPUTE, "compute", RegionRole::FUNCTION, Paradigm::USER),
    (INIT, "MPI_Init", RegionRole::FUNCTION, Paradigm::MPI),
    (
        FINALIZE,
        "MPI_Finalize",
        RegionRole::FUNCTION,
        Paradigm::MPI,
    ),
    (SEND, "MPI_Send", RegionRole::POINT2POINT, Paradigm::MPI),
    (RECV, "MPI_Recv", RegionRole::POINT2POINT, Paradigm::MPI),
    (ISEND, "MPI_Isend", RegionRole::POINT2POINT, Paradigm::MPI),
    (IRECV, "MPI_Irecv", RegionRole::POINT2POINT, Paradigm::MPI),
    (
        WAITALL,
        "MPI_Waitall",
        RegionRole::POINT2POINT,
        Paradigm::MPI,
    ),
    (BARRIER, "MPI_Barrier", RegionRole::BARRIER, Paradigm::MPI),
    (
        ALLREDUCE,
        "MPI_Allreduce",
        RegionRole::COLL_ALL2ALL,
        Paradigm::MPI,
    ),
];

/// Number of the first region a program may add.
pub(crate) const COUNT: u32 = NAMES.len() as u32;

/// Defines all of them, before any other region.
pub(crate) fn define(definitions: &mut DefinitionsWriter) {
    for (_, name, role, paradigm) in NAMES {
        definitions.region(name, role, paradigm);
    }
}

/// The region with this name, if it is one of them.
pub(crate) fn named(name: &str) -> Option<RegionRef> {
    NAMES.iter().find(|it| it.1 == name).map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_order_of_definition() {
        for (number, (region, ..)) in NAMES.into_iter().enumerate() {
            assert_eq!(region, RegionRef(number as u32));
        }
    }
}
