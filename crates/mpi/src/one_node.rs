//! Starting faster where all processes are on one node.
//!
//! Before Open MPI chooses how messages go it opens everything that it could take. One
//! of these, the point-to-point layer `cm`, looks for network cards that match messages by
//! themselves, and takes some 0.2 s to find none, more than half of the time in which
//! processes start. Nothing goes over a network where all are on one node, which
//! `mpirun` says in the environment. What somebody asks for by name is kept, and another
//! MPI does not look at this.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// The variable that chooses the messaging layer, as `mpirun --mca pml NAME` would.
const LAYER: &str = "OMPI_MCA_pml";

/// To be called before anything else: where it changes what MPI is told, the process begins
/// again, since its own environment cannot be changed safely.
pub(crate) fn skip_networks() {
    let number = |name| env::var(name).ok()?.parse::<u32>().ok();
    let here = number("OMPI_COMM_WORLD_LOCAL_SIZE");
    let on_one_node = here.is_some() && here == number("OMPI_COMM_WORLD_SIZE");
    if !on_one_node || env::var_os(LAYER).is_some() {
        return;
    }
    let mut arguments = env::args_os();
    let (Ok(this), Some(name)) = (env::current_exe(), arguments.next()) else {
        return;
    };
    // It comes back only where that fails; then networks are looked for.
    let _ = Command::new(this)
        .arg0(name)
        .args(arguments)
        .env(LAYER, "^cm")
        .exec();
}
