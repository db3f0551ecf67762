import { discard } from "../../cache/cache.js";
import { DeviceError } from "../../base/errors.js";
import type { LoadTest } from "./compiler.js";
import type * as Koffi from "koffi";

/** koffi, an optional dependency: undefined if it is not installed or does not run here. */
export async function loadWorkingKoffi(): Promise<typeof Koffi | undefined> {
  try {
    return (await import("koffi")) as typeof Koffi;
  } catch {
    return undefined;
  }
}

/** A compiled function that takes the address of its argument struct. */
export interface NativeEntry {
  readonly call: (args: bigint) => void;
  /** The same on another thread; then calls `ended`, with the error of a call that was not made. */
  readonly callAside: (args: bigint, ended: (error: Error | null) => void) => void;
  readonly address: bigint;
}

/** Bytes of stack for the share of a kernel that its caller does; threads of OpenMP usually have as much. */
const STACK = 8 << 20;

/** Loads compiled kernels and finds addresses of JavaScript memory. */
export class Loader {
  private readonly entries = new Map<string, NativeEntry>();

  constructor(private readonly koffi: typeof Koffi) {
    try {
      koffi.config({ sync_stack_size: STACK, async_stack_size: STACK, resident_async_pools: 1 });
    } catch {
      // Refused once some library is loaded: what is set stays.
    }
  }

  /** Bytes of stack that a kernel has. */
  get stack(): number {
    return this.koffi.config().sync_stack_size ?? 0;
  }

  /** Tells whether a shared library loads and has these functions; for `compileLibrary`. */
  test(...names: readonly string[]): LoadTest {
    return (path) => {
      const library = this.koffi.load(path);
      for (const name of names) library.func(name, "void", ["void *"]);
    };
  }

  /** The function `name` of the shared library at `path`. Throws DeviceError if it does not load; the cache then keeps it no longer. */
  entry(path: string, name: string): NativeEntry {
    const key = `${name} ${path}`;
    let entry = this.entries.get(key);
    if (!entry) {
      try {
        const library = this.koffi.load(path);
        const call = library.func(name, "void", ["void *"]);
        const { async } = call as unknown as { async: NativeEntry["callAside"] };
        entry = { call: call as unknown as NativeEntry["call"], callAside: async, address: library.symbol(name) as bigint };
      } catch (error) {
        discard(path);
        throw new DeviceError(
          "native",
          `the compiled kernel "${name}" does not load: ${(error as Error).message}`,
          `start again: ${path} was removed from the cache, so the kernel is compiled anew`,
        );
      }
      this.entries.set(key, entry);
    }
    return entry;
  }

  /** Address of byte 0 of a buffer. It stays the same as long as the buffer object is the memory's current one. */
  address(buffer: ArrayBufferLike): bigint {
    // Makes an array of one byte, since engines refuse typed arrays of more than 2^32 elements.
    return this.koffi.address(new Uint8Array(buffer as ArrayBuffer, 0, 1));
  }
}

/**
 * Idle threads of the OpenMP runtime spin before they sleep, by default for long enough to take the processor from the workers of other
 * backends. To be called before the first library is loaded; what the user has set stays.
 */
export function limitSpinning(): void {
  if (process.env.OMP_WAIT_POLICY === undefined) process.env.GOMP_SPINCOUNT ??= "3000";
}
