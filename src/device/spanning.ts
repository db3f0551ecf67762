/** Prefix of a specification of devices that spans all processes of a job: `mpi:wasm`. */
export const SPANNING = "mpi:";
