import { PoolChoice } from "../../src/device/cpu/pool-choice.js";
import { WorkerPool } from "../../src/device/cpu/pool.js";
import { DeviceError } from "../../src/base/errors.js";
import { oneOf, picks } from "./mutate.js";
import type { Subject } from "./subject.js";

/** How a thread comes to its end, when its own program has counted down. */
const ENDS = ["process.exit(0);", 'queueMicrotask(() => { throw new Error("late"); });', "process.exit(3);"];

/** Threads that die while there is work: the run ends with an error that names the kernel, and so does every one after it. */
export const workers: Subject = {
  name: "workers",
  weight: 2,
  open: () =>
    Promise.resolve({
      async trial(seed) {
        const pick = picks(seed);
        const threads = 2 + pick(3);
        const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
        const pool = await WorkerPool.open({ memory, threads, device: "js" });
        // The share that ends its worker must not be run by this thread, as it is where the machine is busy.
        const { isAlone } = PoolChoice.prototype;
        PoolChoice.prototype.isAlone = () => false;
        try {
          const rank = 1 + pick(threads - 1),
            turns = pick(40);
          const source = `let left = ${turns}; return (args, worker) => { if (worker === ${rank} && left-- === 0) { ${oneOf(pick, ENDS)} } };`;
          const deadly = pool.register({ kind: "js", name: "deadly", source });
          let error: unknown;
          for (let run = 0; run < turns + 3 && error === undefined; run++) {
            try {
              pool.run(deadly, 0);
              // What is registered makes workers leave their loop, where errors of their event loop surface.
              if (run >= turns) pool.run(pool.register({ kind: "js", name: "idle", source: "return () => {};" }), 0);
            } catch (thrown) {
              error = thrown;
            }
          }
          if (!(error instanceof DeviceError && error.message.includes(`worker ${rank} died in kernel "`)))
            throw new Error(`no error of worker ${rank}, but ${String(error)}`);
          if (pool.works) throw new Error("the pool goes on without a worker");
          return { "worker deaths": 1 };
        } finally {
          PoolChoice.prototype.isAlone = isAlone;
          await pool.close();
        }
      },
      close: () => Promise.resolve(),
    }),
};
