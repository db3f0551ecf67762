import type { Koffi, Library } from "../../device/ffi.js";
import { IsoformError } from "../../base/errors.js";

/** Bytes of ncclUniqueId, which is passed by value. */
export const ID_BYTES = 128;
/** ncclInt8: messages are bytes. */
const BYTE = 0;
/** ncclInProgress. */
const IN_PROGRESS = 7;

/** Type of an argument, for koffi. */
type Argument = string | ReturnType<Koffi["array"]>;

/** Functions of NCCL. Addresses, streams and communicators are numbers, which fit a double: user space has 47 bits. */
export class NcclCalls {
  readonly version: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  private readonly functions: Readonly<Record<string, (...args: any[]) => number>>;
  private readonly errorText: (status: number) => string;
  private readonly lastError: (communicator: number) => string;

  /** @throws Error where the library lacks a function */
  constructor(
    koffi: Koffi,
    readonly library: Library,
  ) {
    const { handle } = library;
    const id = koffi.struct({ bytes: koffi.array("uint8_t", ID_BYTES, "Typed") });
    const func = (name: string, ...args: Argument[]): ((...given: unknown[]) => number) => handle.func(name, "int", args);
    this.functions = {
      ncclGetVersion: func("ncclGetVersion", "int *"),
      ncclGetUniqueId: func("ncclGetUniqueId", "void *"),
      ncclCommInitRank: func("ncclCommInitRank", "void *", "int", id, "int"),
      ncclCommDestroy: func("ncclCommDestroy", "uintptr_t"),
      ncclCommAbort: func("ncclCommAbort", "uintptr_t"),
      ncclCommGetAsyncError: func("ncclCommGetAsyncError", "uintptr_t", "int *"),
      ncclGroupStart: func("ncclGroupStart"),
      ncclGroupEnd: func("ncclGroupEnd"),
      ncclSend: func("ncclSend", "uintptr_t", "size_t", "int", "int", "uintptr_t", "uintptr_t"),
      ncclRecv: func("ncclRecv", "uintptr_t", "size_t", "int", "int", "uintptr_t", "uintptr_t"),
    };
    this.errorText = handle.func("ncclGetErrorString", "const char *", ["int"]);
    this.lastError = handle.func("ncclGetLastError", "const char *", ["uintptr_t"]);
    const version = new Int32Array(1);
    this.call("ncclGetVersion", 0, version);
    this.version = versionText(version[0]);
  }

  /** A new identity of a communicator. */
  identity(): Uint8Array {
    const id = new Uint8Array(ID_BYTES);
    this.call("ncclGetUniqueId", 0, id);
    return id;
  }

  /** Makes the communicator of an identity, which all its ranks do at once, on the current context's GPU. */
  join(id: Uint8Array, rank: number, count: number): number {
    const out = new BigUint64Array(1);
    this.call("ncclCommInitRank", 0, out, count, { bytes: id }, rank);
    return Number(out[0]);
  }

  /** Ends a group, where its messages begin. */
  group(communicator: number, begin: () => void): void {
    this.call("ncclGroupStart", communicator);
    try {
      begin();
    } finally {
      this.call("ncclGroupEnd", communicator);
    }
  }

  transfer(way: "send" | "receive", address: number, bytes: number, rank: number, communicator: number, stream: number): void {
    this.call(way === "send" ? "ncclSend" : "ncclRecv", communicator, address, bytes, BYTE, rank, communicator, stream);
  }

  /** An error of a connection that was found meanwhile, in words. */
  asyncError(communicator: number): string | undefined {
    const error = new Int32Array(1);
    this.call("ncclCommGetAsyncError", communicator, communicator, error);
    return error[0] === 0 || error[0] === IN_PROGRESS ? undefined : this.textOf(error[0], communicator);
  }

  destroy(communicator: number): void {
    this.call("ncclCommDestroy", communicator, communicator);
  }

  /** Calls a function. Throws IsoformError with NCCL's own text where it fails. */
  private call(name: string, communicator: number, ...args: unknown[]): void {
    const status = this.functions[name](...args);
    if (status !== 0 && status !== IN_PROGRESS) throw new IsoformError(`${name} failed: ${this.textOf(status, communicator)}`);
  }

  private textOf(status: number, communicator: number): string {
    const last = this.lastError(communicator);
    return last ? `${this.errorText(status)}: ${last.trim()}` : this.errorText(status);
  }
}

/** `2.28.9` from 22809; before 2.9 the numbers had one digit less. */
export function versionText(version: number): string {
  const major = version < 10_000 ? 1000 : 10_000;
  return `${Math.floor(version / major)}.${Math.floor((version % major) / 100)}.${version % 100}`;
}
