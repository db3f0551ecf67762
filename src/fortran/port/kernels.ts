/*
 * Kernels over threads as procedures with loops: a directive `!$cuf kernel do(n)` precedes them, as with loops that the author wrote.
 */

import { controlFlow, type Procedures } from "../analyse/flow.js";
import { LAUNCH_REMEDY, shortLaunch } from "../analyse/launches.js";
import type { UnitScope } from "../analyse/symbols.js";
import { isThreadIndex, threadIndices, threadReads } from "../analyse/thread-index.js";
import { mapStatements } from "../analyse/visit.js";
import type { Problems } from "../errors.js";
import type { Directed, Do, Procedure, Stmt } from "../tree/index.js";

/** The name of the loop that an early `return` leaves for the next element. */
const ELEMENT = "element";

const REMEDY = "begin the kernel with that line and `if (i > n) return`";

/** A kernel with loops in place of its thread's indices and its guard, the axis x innermost; any other procedure as it is. */
export function threadsAsLoops(
  procedure: Procedure,
  { scope, procedures }: { scope?: UnitScope; procedures: Procedures },
  problems: Problems,
): Procedure {
  if (!procedure.attributes.includes("global")) return procedure;
  const found = threadIndices(procedure);
  if (!found) {
    const reads = threadReads(procedure.body.filter((s) => !isThreadIndex(s)));
    for (const { at, name } of reads)
      problems.add(at, name, "the thread's index is read outside of `i = blockdim%x*(blockidx%x-1) + threadidx%x`", REMEDY);
    if (reads.length === 0)
      problems.add(procedure.at, `attributes(global) ${procedure.name}`, "no line computes the thread's index", REMEDY);
    return procedure;
  }
  const { axes, leftOut } = found;
  const open = axes.find((axis) => axis.stop === undefined);
  if (open) {
    const remedy = `write \`if (${open.variable} > n) return\` after the thread's indices`;
    problems.add(procedure.at, `attributes(global) ${procedure.name}`, `no guard says where ${open.variable} ends`, remedy);
    return procedure;
  }
  const short = scope && shortLaunch(scope, found);
  if (short) problems.add(short.at, `launch of ${procedure.name}`, short.why, LAUNCH_REMEDY);
  const flow = controlFlow(found.body, procedures);
  for (const d of procedure.declarations)
    if (d.kind === "variables" && d.attributes.includes("value"))
      for (const { name } of d.names)
        if (flow.assigned.has(name) && flow.readFirst.has(name))
          problems.add(
            d.at,
            `value :: ${name}`,
            "the kernel reads it and then writes it: in loops, the next element would read what this one wrote",
            "copy it to a local variable of the kernel",
          );
  const at = procedure.body[0].at;
  const { body, named } = withoutReturns(found.body);
  const [first, ...rest] = body;
  const inner: Stmt[] = [
    ...leftOut.map((cond): Stmt => ({
      kind: "if",
      oneLine: true,
      at: cond.at,
      branches: [{ cond, at: cond.at, body: [{ kind: "cycle", at: cond.at }] }],
    })),
    ...(first ? [{ ...first, before: undefined }] : []),
    ...rest,
  ];
  const loops = axes.reduce<readonly Stmt[]>((within, { variable, start, stop }, n): Stmt[] => {
    const made: Do = { kind: "do", variable, start, stop: stop!, body: within, at };
    return [n === 0 && named ? { ...made, name: ELEMENT } : made];
  }, inner);
  const directed: Directed = {
    kind: "directed",
    directive: { sentinel: "cuf", words: ["kernel", "do"], clauses: [{ kind: "collapse", count: axes.length, at }], at },
    body: loops,
    closed: false,
    at,
    ...(first?.before && { before: first.before }),
  };
  return { ...procedure, body: [directed] };
}

/** `return` ends an element: `cycle`, with a name within inner loops. */
function withoutReturns(body: readonly Stmt[]): { body: readonly Stmt[]; named: boolean } {
  let named = false;
  const inLoops = (part: readonly Stmt[]): Stmt[] =>
    mapStatements(part, (s) => {
      if (s.kind !== "return") return [s];
      named = true;
      return [{ ...s, kind: "cycle", loop: ELEMENT }];
    });
  const outside = mapStatements(
    body.map((s) => (isLoop(s) ? { ...s, body: inLoops(s.body) } : s)),
    (s) => [isLoop(s) ? { ...s, body: inLoops(s.body) } : s.kind === "return" ? { ...s, kind: "cycle" } : s],
  );
  // Drops a `cycle` at the very end, which skips nothing.
  return { body: outside.at(-1)?.kind === "cycle" && outside.length > 1 ? outside.slice(0, -1) : outside, named };
}

const isLoop = (s: Stmt): s is Extract<Stmt, { kind: "do" | "do-while" | "do-concurrent" }> =>
  s.kind === "do" || s.kind === "do-while" || s.kind === "do-concurrent";
