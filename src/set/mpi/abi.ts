import { unreachable } from "../../base/unreachable.js";

/** Binary interfaces of MPI: Open MPI's (4 and 5), MPICH's (and Intel's, Cray's), and the standard one of MPI 5. */
export type AbiName = "openmpi" | "mpich" | "standard";

/** Constants of one binary interface, by its header. Handles are numbers of `handleBytes` bytes. */
export interface Abi {
  readonly name: AbiName;
  readonly handleBytes: 4 | 8;
  /** Bytes of a status, and the offset of its error code. */
  readonly statusBytes: number;
  readonly statusError: number;
  readonly world: number;
  readonly self: number;
  readonly byte: number;
  readonly errorsReturn: number;
  readonly infoNull: number;
  /** MPI_THREAD_FUNNELED. */
  readonly funneled: number;
  /** MPI_COMM_TYPE_SHARED. */
  readonly shared: number;
}

/**
 * Constants of an interface.
 * @param symbol address of a symbol of the library: Open MPI's handles are such addresses
 */
export function abiOf(name: AbiName, symbol: (name: string) => number): Abi {
  switch (name) {
    case "openmpi":
      return {
        name,
        handleBytes: 8,
        statusBytes: 24,
        statusError: 8,
        world: symbol("ompi_mpi_comm_world"),
        self: symbol("ompi_mpi_comm_self"),
        byte: symbol("ompi_mpi_byte"),
        errorsReturn: symbol("ompi_mpi_errors_return"),
        infoNull: symbol("ompi_mpi_info_null"),
        funneled: 1,
        shared: 0,
      };
    case "mpich":
      return {
        name,
        handleBytes: 4,
        statusBytes: 20,
        statusError: 16,
        world: 0x44000000,
        self: 0x44000001,
        byte: 0x4c00010d,
        errorsReturn: 0x54000001,
        infoNull: 0x1c000000,
        funneled: 1,
        shared: 1,
      };
    case "standard":
      return {
        name,
        handleBytes: 8,
        statusBytes: 32,
        statusError: 8,
        world: 0x101,
        self: 0x102,
        byte: 0x247,
        errorsReturn: 0x143,
        infoNull: 0x130,
        funneled: 1024,
        shared: 221,
      };
    default:
      return unreachable(name);
  }
}
