import { DeviceError } from "../../base/errors.js";
import type { Aside } from "../cpu/backlog.js";
import type { NativeEntry, Loader } from "./library.js";

/* Calls of compiled kernels on a thread of koffi's, which is to the OpenMP runtime what the calling thread is otherwise. */

export const ASIDE_FUNCTION = "isoform_aside";

export const ASIDE_SOURCE = `// Runs a kernel on another thread than the caller's, written by isoform.
#include <stdint.h>

struct aside {
  void (*run)(void *args);
  void *args;
  int32_t *ended;
};

void ${ASIDE_FUNCTION}(const struct aside *aside)
{
  aside->run(aside->args);
  __atomic_store_n(aside->ended, 1, __ATOMIC_RELEASE);
}
`;

/** Milliseconds between two looks of a thread that waits. */
const LOOK = 0.1;

/** Starts an entry with its arguments; `through` is the entry of ASIDE_FUNCTION. */
export function startAside(loader: Loader, through: NativeEntry, entry: NativeEntry, args: bigint): Aside {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const call = new BigUint64Array([entry.address, args, loader.address(flag.buffer)]);
  let failure: Error | undefined;
  const ended = new Promise<void>((resolve) =>
    through.callAside(loader.address(call.buffer), (error) => {
      // Names what has to be there until now.
      void call.buffer;
      if (error) failure = error;
      Atomics.store(flag, 0, 1);
      resolve();
    }),
  );
  return {
    ended,
    wait: () => {
      while (Atomics.load(flag, 0) === 0) Atomics.wait(flag, 0, 0, LOOK);
    },
    check: () => {
      if (failure)
        throw new DeviceError("native", `a kernel could not be called on another thread: ${failure.message}`, "open the device again");
    },
  };
}
