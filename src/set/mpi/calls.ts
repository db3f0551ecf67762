import type { Koffi } from "../../device/ffi.js";
import { IsoformError } from "../../base/errors.js";
import { abiOf, type Abi } from "./abi.js";
import type { MpiLibrary } from "./library.js";

/** Arguments of the functions that are called: an address, an int, or a handle. */
const SIGNATURES = {
  MPI_Initialized: ["address"],
  MPI_Init_thread: ["address", "address", "int", "address"],
  MPI_Finalize: [],
  MPI_Abort: ["handle", "int"],
  MPI_Error_string: ["int", "address", "address"],
  MPI_Comm_rank: ["handle", "address"],
  MPI_Comm_size: ["handle", "address"],
  MPI_Comm_dup: ["handle", "address"],
  MPI_Comm_set_errhandler: ["handle", "handle"],
  MPI_Comm_split_type: ["handle", "int", "int", "handle", "address"],
  MPI_Isend: ["address", "int", "handle", "int", "int", "handle", "address"],
  MPI_Irecv: ["address", "int", "handle", "int", "int", "handle", "address"],
  MPI_Test: ["address", "address", "address"],
  MPI_Testall: ["int", "address", "address", "address"],
  MPI_Get_count: ["address", "handle", "address"],
  MPI_Ibarrier: ["handle", "address"],
  MPI_Ibcast: ["address", "int", "handle", "int", "handle", "address"],
  MPI_Iallgatherv: ["address", "int", "handle", "address", "address", "address", "handle", "handle", "address"],
} as const satisfies Record<string, readonly ("address" | "int" | "handle")[]>;

type Name = keyof typeof SIGNATURES;
type Functions = Readonly<Record<Name, (...args: number[]) => number>>;

/** Bytes of the longest error: MPI_MAX_ERROR_STRING. */
const ERROR_BYTES = 512;

/** Functions of a library, by its binary interface. Addresses are numbers: an address keeps nothing alive, so callers hold the memory. */
export class Calls {
  readonly abi: Abi;
  readonly functions: Functions;
  private alarm: ((seconds: number) => void) | undefined;
  /** Addresses of buffers, asked for once. */
  private readonly begins = new WeakMap<ArrayBufferLike, number>();

  constructor(
    private readonly koffi: Koffi,
    readonly library: MpiLibrary,
  ) {
    const { scope } = library;
    this.abi = abiOf(library.abi, (name) => Number(scope.symbol(name)));
    const types = { address: "uintptr_t", int: "int", handle: this.abi.handleBytes === 4 ? "int" : "uintptr_t" };
    this.functions = Object.fromEntries(
      Object.entries(SIGNATURES).map(([name, args]) => [
        name,
        scope.func(
          name,
          "int",
          args.map((arg) => types[arg]),
        ),
      ]),
    ) as unknown as Functions;
  }

  /** Address of the first byte of memory, which stays in place as long as the buffer is held; 0 for no bytes. */
  address({ buffer, byteOffset, byteLength }: ArrayBufferView): number {
    if (byteLength === 0) return 0;
    let begin = this.begins.get(buffer);
    if (begin === undefined) {
      // A view of one byte, since engines refuse typed arrays of more than 2^32 elements.
      begin = Number(this.koffi.address(new Uint8Array(buffer as ArrayBuffer, 0, 1)));
      this.begins.set(buffer, begin);
    }
    return begin + byteOffset;
  }

  /** A handle that MPI has written to memory. */
  handle(memory: Uint8Array): number {
    const view = new DataView(memory.buffer, memory.byteOffset);
    return this.abi.handleBytes === 4 ? view.getInt32(0, true) : Number(view.getBigUint64(0, true));
  }

  /** Lets the system end this process after some seconds, whatever it does; 0 for never. */
  endAfter(seconds: number): void {
    this.alarm ??= this.library.scope.func("alarm", "uint", ["uint"]);
    this.alarm(seconds);
  }

  /** Calls a function. Throws IsoformError with MPI's own text where it fails. */
  call(name: Name, ...args: number[]): void {
    const code = this.functions[name](...args);
    if (code !== 0) throw new IsoformError(`${name} failed: ${this.errorText(code)}`);
  }

  /** Calls a function that writes one int, and returns that. */
  int(name: Name, ...before: number[]): number {
    const result = new Int32Array(1);
    this.call(name, ...before, this.address(result));
    return result[0];
  }

  /** MPI's text for an error code, in one line. */
  errorText(code: number): string {
    const [text, length] = [new Uint8Array(ERROR_BYTES), new Int32Array(1)];
    this.functions.MPI_Error_string(code, this.address(text), this.address(length));
    return (
      Buffer.from(text.subarray(0, Math.max(0, length[0])))
        .toString()
        .replace(/\s+/g, " ")
        .trim() || `error ${code}`
    );
  }
}
