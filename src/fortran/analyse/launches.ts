import type { Location } from "../../ir/types.js";
import type { CallStatement, Expr } from "../tree/index.js";
import { dim3Parts, findProcedure, type UnitScope, type World } from "./symbols.js";
import type { ThreadIndices } from "./thread-index.js";
import { TrialRun } from "./trials.js";
import { eachStatement, namesInTree } from "./visit.js";

/* Launches of CUDA Fortran's kernels: whether each has a thread for every element that the kernel's guard lets through. */

/** A launch that may have fewer threads than the guard lets through, or threads along other axes. */
export interface ShortLaunch {
  readonly at: Location;
  /** In words, with an example. */
  readonly why: string;
}

export const LAUNCH_REMEDY = "launch enough blocks for all elements, such as (n + 255)/256 blocks of 256 threads";

interface Site {
  readonly scope: UnitScope;
  readonly call: CallStatement;
}

const SITES = new WeakMap<World, ReadonlyMap<UnitScope, readonly Site[]>>();

/** The launches of each kernel in the files that are read together. */
function sitesIn(world: World): ReadonlyMap<UnitScope, readonly Site[]> {
  const known = SITES.get(world);
  if (known) return known;
  const found = new Map<UnitScope, Site[]>();
  for (const scope of world.scopes)
    if (scope.unit.kind !== "module")
      eachStatement(scope.unit.body, (call) => {
        if (call.kind !== "call" || !call.launch || call.procedure.kind !== "name") return;
        const kernel = findProcedure(scope, call.procedure.name);
        if (kernel) found.set(kernel, [...(found.get(kernel) ?? []), { scope, call }]);
      });
  SITES.set(world, found);
  return found;
}

const TRIALS = 40;

/** The first launch of a kernel that is not seen to reach the ends of its guards. */
export function shortLaunch(kernel: UnitScope, { axes }: Pick<ThreadIndices, "axes">): ShortLaunch | undefined {
  for (const { scope, call } of sitesIn(kernel.world).get(kernel) ?? [])
    for (let trial = 1; trial <= TRIALS; trial++) {
      const why = lackIn(new TrialRun(trial), kernel, axes, scope, call);
      if (why !== undefined) return { at: call.at, why };
    }
  return undefined;
}

/** Why one launch is too short for some sizes. */
function lackIn(
  trial: TrialRun,
  kernel: UnitScope,
  axes: ThreadIndices["axes"],
  caller: UnitScope,
  call: CallStatement,
): string | undefined {
  const { unit } = kernel;
  if (unit.kind !== "procedure" || caller.unit.kind === "module") return undefined;
  let why: string | undefined;
  trial.run(caller, caller.unit.body, (s) => {
    if (s !== call) return;
    const args = new Map(
      call.args.flatMap((arg, n) => (arg.kind === "value" ? [[arg.keyword ?? unit.dummies[n], arg.value] as const] : [])),
    );
    const [blocks, threads] = [call.launch!.grid, call.launch!.block].map((e) => sizesOf(caller, e));
    for (const [n, axis] of (["x", "y", "z"] as const).entries()) {
      const launched = [blocks[n], threads[n]].reduce((product, e) => product * (e ? trial.value(caller, e).n : 1), 1);
      const along = axes.find((each) => each.axis === axis);
      const bound = (e: Expr): number => trial.value(kernel, e, { procedure: kernel, args, caller }).n;
      const wanted = along?.stop ? bound(along.stop) - bound(along.start) + 1 : 1;
      if (along ? launched >= wanted : launched === 1) continue;
      const sizes = [...namesInTree(along?.stop)].filter((name) => args.has(name));
      const example = sizes.map((name) => `${name} = ${trial.value(caller, args.get(name)!).n}`).join(", ");
      why ??= along
        ? `it has ${launched} threads along ${axis}, and the guard of ${unit.name} lets ${wanted} elements through${example && ` (${example})`}`
        : `it has ${launched} threads along ${axis}, which ${unit.name} does not use`;
    }
  });
  return why;
}

/** The sizes of a grid or a block; 1 where it says none. */
function sizesOf(scope: UnitScope, e: Expr | undefined): readonly (Expr | undefined)[] {
  if (!e) return [];
  if (e.kind === "constructor") return e.items.map((item) => (item.kind === "implied-do" ? undefined : item));
  return dim3Parts(scope, e) ?? [e];
}
