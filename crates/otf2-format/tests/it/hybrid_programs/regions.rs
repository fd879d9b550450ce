//! The regions that programs enter.

use retime_otf2::writer::DefinitionsWriter;
use retime_otf2::{EventData, Paradigm, RegionRef, RegionRole};

const MPI: &[&str] = &[
    "MPI_Send",
    "MPI_Bsend",
    "MPI_Ssend",
    "MPI_Isend",
    "MPI_Issend",
    "MPI_Recv",
    "MPI_Irecv",
    "MPI_Mprobe",
    "MPI_Improbe",
    "MPI_Mrecv",
    "MPI_Imrecv",
    "MPI_Probe",
    "MPI_Sendrecv",
    "MPI_Send_init",
    "MPI_Ssend_init",
    "MPI_Recv_init",
    "MPI_Start",
    "MPI_Wait",
    "MPI_Waitall",
    "MPI_Cancel",
    "MPI_Request_free",
    "MPI_Collective",
    "MPI_Icollective",
    "MPI_Win_fence",
    "MPI_Put",
    "MPI_Get",
    "MPI_Win_start",
    "MPI_Win_complete",
    "MPI_Win_post",
    "MPI_Win_wait",
    "MPI_Win_lock",
    "MPI_Win_unlock",
    "MPI_Finalize",
];

const OTHERS: &[(&str, RegionRole, Paradigm)] = &[
    ("work", RegionRole::FUNCTION, Paradigm::USER),
    ("kernel", RegionRole::KERNEL, Paradigm::CUDA),
    ("!$omp parallel", RegionRole::PARALLEL, Paradigm::OPENMP),
    ("!$omp barrier", RegionRole::BARRIER, Paradigm::OPENMP),
    (
        "!$omp implicit barrier",
        RegionRole::IMPLICIT_BARRIER,
        Paradigm::OPENMP,
    ),
    ("!$omp task", RegionRole::TASK_CREATE, Paradigm::OPENMP),
    ("!$omp critical", RegionRole::CRITICAL, Paradigm::OPENMP),
    (
        "pthread_create",
        RegionRole::THREAD_CREATE,
        Paradigm::PTHREAD,
    ),
    ("pthread_join", RegionRole::THREAD_WAIT, Paradigm::PTHREAD),
    ("cudaLaunchKernel", RegionRole::FUNCTION, Paradigm::CUDA),
    ("cuLaunchKernel", RegionRole::FUNCTION, Paradigm::CUDA),
    ("cudaGraphLaunch", RegionRole::FUNCTION, Paradigm::CUDA),
    ("cudaMemcpyAsync", RegionRole::FUNCTION, Paradigm::CUDA),
    ("cudaMemcpy", RegionRole::FUNCTION, Paradigm::CUDA),
    (
        "cudaDeviceSynchronize",
        RegionRole::FUNCTION,
        Paradigm::CUDA,
    ),
    (
        "cudaStreamSynchronize",
        RegionRole::FUNCTION,
        Paradigm::CUDA,
    ),
    ("cudaSetDevice", RegionRole::FUNCTION, Paradigm::CUDA),
];

pub(super) fn define(definitions: &mut DefinitionsWriter) {
    for name in MPI {
        definitions.region(name, RegionRole::FUNCTION, Paradigm::MPI);
    }
    for &(name, role, paradigm) in OTHERS {
        definitions.region(name, role, paradigm);
    }
}

fn region(name: &str) -> RegionRef {
    let mut all = MPI.iter().chain(OTHERS.iter().map(|(name, ..)| name));
    RegionRef(all.position(|it| *it == name).unwrap() as u32)
}

pub(super) fn name(region: RegionRef) -> &'static str {
    let mut all = MPI.iter().chain(OTHERS.iter().map(|(name, ..)| name));
    all.nth(region.0 as usize).unwrap()
}

pub(super) fn enter(name: &str) -> EventData {
    EventData::Enter {
        region: region(name),
    }
}

pub(super) fn leave(name: &str) -> EventData {
    EventData::Leave {
        region: region(name),
    }
}
