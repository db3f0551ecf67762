import { int } from "../../ir/expressions.js";
import { identityOf } from "../../ir/identity.js";
import type { Expr, NumberType, Param, Stmt } from "../../ir/types.js";
import { built, type LoweredKernel, type LoweredSequence } from "./kernels.js";
import type { Outcome } from "./outcome.js";

/** The sequence as a kernel of one element: what it gives comes back as results. */
export function sequenceKernel(name: string, { at, stmts, params, sources, results, dropped }: LoweredSequence): LoweredKernel {
  const taken = new Set(params.map((param) => param.name));
  const outcomes: Outcome[] = [];
  const folds: Param[] = [];
  const given = results.map(({ local, name: of, type, variable }): Stmt => {
    const held: NumberType = type === "bool" ? "i32" : (type as NumberType);
    let param = `${of || "value"}__out`;
    while (taken.has(param)) param += "_";
    taken.add(param);
    folds.push({ kind: "reduce", name: param, type: held, op: "max", identity: identityOf("max", held) });
    outcomes.push({ param, name: of, type, ...(variable && { variable }) });
    const e: Expr = { op: "local", type, name: local };
    return { kind: "reduce", target: param, value: type === "bool" ? { op: "cast", type: "i32", a: e } : e, location: at };
  });
  const ir = built(() => ({
    name,
    policy: { kind: "range", rank: 1 },
    params: [...params, ...folds],
    tables: [],
    body: [...stmts, ...given],
    location: at,
  }));
  return { ir, sources, outcomes, trips: [int(1)], axes: [], carried: [], rows: [], dropped };
}
