import { contributionsOf, launchRanges } from "../../ir/analysis/contributions.js";
import { BLOCK_LINES, LINE_ELEMENTS, MOST_CACHED } from "../../ir/cache-lines.js";
import type { ScatterParam } from "../../ir/types.js";
import { LaunchError } from "../../base/errors.js";
import type { Binding } from "../launch/binding.js";
import { strategySource } from "../tuning/tuning.js";
import { BYTES, type View } from "../memory/view.js";
import type { ParamChoice, ScatterChoice } from "./scatter.js";

/** Fewer lines than this bring together next to nothing. */
const FEWEST_LINES = 16;
/** Contributions that pay for emptying a scatter cache and bringing it to the target. */
const CONTRIBUTIONS_OF_CACHE = 8192;
/** Elements that a block takes at least. */
const SHORTEST_SEGMENT = 1024;
/** Contributions of an element where data decide how many there are. */
const SOME_CONTRIBUTIONS = 8;

/** The scatter caches of a launch's blocks, alike for all targets (see ir/cache-lines.ts). */
export interface ScatterCacheShape {
  /** Lines of a scatter cache, a power of two. */
  readonly lines: number;
  /** Neighbouring elements of the range that a block takes. */
  readonly segment: number;
  readonly remark: string;
}

/** The choice of scatter caches for a target that they were asked for. Throws LaunchError if there cannot be any. */
export function cached(binding: Binding, { name }: ScatterParam): ParamChoice {
  const { kernel, policy, views } = binding;
  const refuse = (why: string): never => {
    throw new LaunchError(
      `kernel "${kernel.name}": scatter "${name}" cannot be cached on a GPU: ${why}; use the strategy "atomic" or "sorted"`,
    );
  };
  if (policy.kind === "team") return refuse("teams have no scatter caches of their own");
  const reach = reachOf(views[name]);
  if (reach > MOST_CACHED) return refuse(`it reaches over ${reach} elements, and scatter caches serve ${MOST_CACHED} at most`);
  return { code: "cached", strategy: "cached", why: `a scatter cache for each block in shared memory, ${strategySource(binding)}` };
}

const reachOf = ({ shape, strides }: View): number => shape.reduce((sum, extent, axis) => sum + Math.max(0, extent - 1) * strides[axis], 1);

/** The scatter caches that fit into `room` bytes of a block's memory; undefined if nothing is cached. Throws LaunchError. */
export function scatterCacheShape(binding: Binding, { code }: ScatterChoice, room: number): ScatterCacheShape | undefined {
  const { ir, kernel } = binding;
  const targets = ir.params.filter((p): p is ScatterParam => p.kind === "scatter" && code[p.name] === "cached");
  if (targets.length === 0) return undefined;
  const bytesOfLine = targets.reduce((sum, { element }) => sum + LINE_ELEMENTS * BYTES[element] + 4, 0);
  const lines = Math.min(BLOCK_LINES, 2 ** Math.floor(Math.log2(Math.max(1, room / bytesOfLine))));
  if (lines < FEWEST_LINES)
    throw new LaunchError(
      `kernel "${kernel.name}": scatter caches of ${targets.map(({ name }) => name).join(", ")} take ${FEWEST_LINES * bytesOfLine} bytes at least and a block has ${room} left; use the strategy "atomic" for some`,
    );
  const ranges = launchRanges(binding);
  const contributions = targets.reduce((sum, { name }) => sum + (contributionsOf(ir, name, ranges) ?? SOME_CONTRIBUTIONS), 0);
  const segment = Math.max(SHORTEST_SEGMENT, Math.floor(CONTRIBUTIONS_OF_CACHE / Math.max(1, contributions)));
  return {
    lines,
    segment,
    remark: `scatter caches: ${lines} lines of ${LINE_ELEMENTS} elements, for segments of ${segment} elements of the range`,
  };
}
