import type { ParallelRegion } from "../analyse/regions.js";
import { find, proceduresSeen } from "../analyse/symbols.js";
import type { Problems } from "../errors.js";
import { arranged, loopsOf, type Nest } from "./nests.js";
import type { Do, Stmt } from "../tree/index.js";

const counts = ({ kind }: Stmt): boolean => kind !== "comment" && kind !== "continue";

/** A region with its loops, and those that stand alone in it, in another order; a problem, and the region as it was, where that would change results. */
export function withLoopOrder(region: ParallelRegion, { idx }: { readonly idx: readonly string[] }, problems: Problems): ParallelRegion {
  const { scope, at, name } = region;
  const open = region.axes.find(({ stop }) => !stop);
  if (open) {
    problems.add(at, `idx of ${name}`, `no guard says where ${open.variable} ends`, "write a guard, or leave idx out");
    return region;
  }
  const missing = region.axes.find(({ variable }) => !idx.includes(variable));
  if (missing) {
    problems.add(at, `idx of ${name}`, `the parallel loop over \`${missing.variable}\` is not in it`, "name all parallel loops");
    return region;
  }
  const own = region.axes.map(({ variable, start, stop, step }): Do => ({
    kind: "do",
    variable,
    start,
    stop: stop!,
    ...(step && { step }),
    body: [],
    at,
  }));
  const inner: Do[] = [];
  let { body } = region;
  for (;;) {
    const [only, more] = body.filter(counts);
    if (more || only?.kind !== "do" || only.name !== undefined) break;
    inner.push(only);
    body = only.body;
  }
  const reductions = region.reductions.map((reduction) => ({ kind: "reduction", op: reduction.op, names: [reduction.name], at }) as const);
  const nest: Nest = { loops: [...own, ...inner], parallel: own.length, body, clauses: reductions, before: [] };
  const variables = new Map(
    [...region.written].flatMap((each) => {
      const variable = find(scope, each);
      return variable ? [[each, { isArray: variable.dims !== undefined, isLocal: variable.scope === scope && !variable.dummy }]] : [];
    }),
  );
  const { loops, parallel } = arranged(
    nest,
    { idx, num_loop: idx.length },
    { at, name, variables, procedures: proceduresSeen(scope), problems },
  );
  const rest = loops.slice(parallel);
  return { ...region, axes: loops.slice(0, parallel), body: rest.length > 0 ? [loopsOf({ ...nest, loops: rest })] : body };
}
