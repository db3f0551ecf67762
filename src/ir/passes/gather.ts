import { literal } from "../simplify.js";
import type { Expr, KernelIR, ReduceParam, Stmt } from "../types.js";
import { FreshNames } from "./copy.js";
import { mapExpr, mapStmts, walkStmts } from "../walk.js";

/**
 * Makes every element fold exactly one value into each reduction, at the end of the body and unconditionally: what it folds before goes
 * into a local that starts at the identity. So whoever runs the kernel may take the element's value instead of folding it.
 */
export function gatherReductions(ir: KernelIR): KernelIR {
  const names = new FreshNames(ir);
  return ir.params.reduce((gathered, param) => (param.kind === "reduce" && !param.joint ? gather(gathered, param, names) : gathered), ir);
}

function gather(ir: KernelIR, param: ReduceParam, names: FreshNames): KernelIR {
  const folds: Extract<Stmt, { kind: "reduce" }>[] = [];
  walkStmts(ir.body, (stmt) => {
    if (stmt.kind === "reduce" && stmt.target === param.name) folds.push(stmt);
  });
  const location = folds.at(-1)?.location ?? ir.location;
  const local: Expr = { op: "local", type: param.type, name: names.fresh(`${param.name}_value`) };
  const { type, name } = local;
  const once = folds.length === 1 && ir.body.includes(folds[0]!);
  const stmt = (s: Stmt): Stmt => {
    if (s.kind !== "reduce" || s.target !== param.name) return s;
    return once
      ? { kind: "let", name, type, init: s.value, location: s.location }
      : { kind: "assign", name, value: foldOf(param, local, s.value), location: s.location };
  };
  const start: Stmt[] = once ? [] : [{ kind: "let", name, type, init: literal(type, param.identity), location }];
  return { ...ir, body: [...start, ...mapStmts(ir.body, { stmt }), { kind: "reduce", target: param.name, value: local, location }] };
}

function foldOf(param: ReduceParam, a: Expr, b: Expr): Expr {
  const { type, op, combine } = param;
  if (op === "joint") throw new Error("parts of a joint reduction are gathered one by one");
  if (op !== "custom") return { op: "binary", type, fn: op === "sum" ? "add" : op, a, b };
  const sides = new Map([
    [combine!.a, a],
    [combine!.b, b],
  ]);
  return mapExpr(combine!.body, (node) => (node.op === "local" ? (sides.get(node.name) ?? node) : node));
}
