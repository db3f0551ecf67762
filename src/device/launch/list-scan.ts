import { kernel, type Kernel } from "../../kernel/declare/kernel.js";
import { i32, view } from "../../kernel/declare/params.js";
import type { Params } from "../../kernel/declare/params.js";
import type { Device, Launch } from "../device.js";
import { CPU_MEMORY, type View } from "../memory/view.js";

/*
 * An exclusive prefix sum of counts in place, with the total after them: sums of chunks, their prefix sum, and then each chunk from its own start. Whole numbers have the same
 * sums in any order. A sum beyond i32 stays at the greatest one.
 */

/** Counts of a chunk: a thread of a CPU has long ones, a thread of a GPU a cache line. */
const CPU_CHUNK = 8192;
const GPU_CHUNK = 32;

const sumCounts = kernel(
  "sumCounts",
  { counts: view(i32), sums: view(i32), total: i32, chunk: i32 },
  ({ counts, sums, total, chunk }, c) => {
    const start = c * chunk;
    const length = Math.min(chunk, total - start);
    let sum = 0;
    for (let k = 0; k < length; k++) {
      const here = counts[start + k];
      sum = here > 2147483647 - sum ? 2147483647 : sum + here;
    }
    sums[c] = sum;
  },
);

const placeCounts = kernel(
  "placeCounts",
  { counts: view(i32, 1, { disjoint: true }), sums: view(i32), total: i32, chunk: i32 },
  ({ counts, sums, total, chunk }, c) => {
    const start = c * chunk;
    const length = Math.min(chunk, total - start);
    let sum = sums[c];
    for (let k = 0; k < length; k++) {
      const here = counts[start + k];
      counts[start + k] = sum;
      sum = here > 2147483647 - sum ? 2147483647 : sum + here;
    }
    if (start + length === total) counts[total] = sum;
  },
);

/** Takes the total into the launch's state, and that into the list's: another launch may fill the list before the results of this one are read. */
const endList = kernel(
  "endList",
  {
    counts: view(i32),
    own: view(i32, 1, { disjoint: true }),
    state: view(i32, 1, { disjoint: true }),
    total: i32,
    capacity: i32,
    most: i32,
    filler: i32,
  },
  ({ counts, own, state, total, capacity, most, filler }, i) => {
    own[i] = Math.min(counts[total], capacity);
    own[i + 1] = counts[total];
    own[i + 3] = most;
    own[i + 4] = filler;
    for (let k = 0; k < 5; k++) state[i + k] = own[i + k];
  },
);

/** Launches and memory that belong together. */
interface Parts {
  readonly device: Device;
  launch(kernel: Kernel<Params, "range">, args: Readonly<Record<string, unknown>>, count: number): Launch;
  array(length: number): View<"i32", 1>;
}

/** Launches that make places of `total` counts and note what a list with this state then holds. `counts` has an element more. */
export function placeLaunches(
  parts: Parts,
  counts: View<"i32", 1>,
  total: number,
  list: {
    readonly own: View<"i32", 1>;
    readonly state: View<"i32", 1>;
    readonly capacity: number;
    readonly most: number;
    readonly filler: number;
  },
): Launch[] {
  const end = parts.launch(endList as Kernel<Params, "range">, { counts, total, ...list }, 1);
  return [...scanLaunches(parts, counts, total), end];
}

function scanLaunches(parts: Parts, counts: View<"i32", 1>, total: number): Launch[] {
  const onHost = parts.device.memory === CPU_MEMORY;
  const chunk = onHost ? Math.max(CPU_CHUNK, Math.ceil(total / parts.device.capabilities.parallelism)) : GPU_CHUNK;
  const chunks = Math.max(1, Math.ceil(total / chunk));
  const sums = parts.array(chunks + 1);
  const args = { counts, sums, total, chunk };
  const place = parts.launch(placeCounts as Kernel<Params, "range">, args, chunks);
  if (chunks === 1) return [place];
  return [parts.launch(sumCounts as Kernel<Params, "range">, args, chunks), ...scanLaunches(parts, sums, chunks), place];
}
