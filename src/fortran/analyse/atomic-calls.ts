import type { Location } from "../../ir/types.js";
import type { Directive, Expr, Name, Procedure, SourceFile, Stmt, Unit, Designator } from "../tree/index.js";
import { eachNode, mapStatements } from "./visit.js";

/* Rewrites CUDA Fortran's `istat = atomicadd(x, e)` as an update of x under `atomic`. */

const OPERATORS: Readonly<Record<string, "+" | "-">> = { atomicadd: "+", atomicsub: "-" };
const FUNCTIONS: Readonly<Record<string, string>> = {
  atomicmin: "min",
  atomicmax: "max",
  atomicand: "iand",
  atomicor: "ior",
  atomicxor: "ieor",
};

/** The file with such statements as directives. */
export const withAtomics = (file: SourceFile): SourceFile => ({ ...file, units: file.units.map(changed) });

function changed<T extends Unit>(unit: T): T {
  const procedures: Procedure[] = unit.procedures.map(changed);
  if (unit.kind === "module") return { ...unit, procedures };
  const body = mapStatements(unit.body, (s) => {
    // A directive stands on a line of its own.
    if (s.kind === "if" && s.oneLine && s.branches[0].body[0]?.kind === "directed") return [{ ...s, oneLine: false }];
    if (s.kind !== "assign" || s.target.kind !== "name") return [s];
    const { target, before, behind, at } = s;
    const call = updateOf(s.value);
    if (!call) return [s];
    const update: Stmt = { kind: "assign", target: call.x, value: call.value, at };
    const isRead = reads(unit, target) > 0;
    const words = ["atomic", call.isPlain ? "write" : "update"];
    if (isRead) words[1] = "capture";
    const directive: Directive = { sentinel: "acc", words, clauses: [], at };
    const kept: Stmt[] = isRead ? [{ kind: "assign", target, value: call.x, at }] : [];
    return [
      { kind: "directed", directive, body: [...kept, update], closed: isRead, at, ...(before && { before }), ...(behind && { behind }) },
    ];
  });
  return { ...unit, procedures, body };
}

/** Value that `atomicadd(x, e)` assigns to x. */
function updateOf(e: Expr): { x: Designator; value: Expr; isPlain?: true } | undefined {
  if (e.kind !== "apply" || e.base.kind !== "name" || e.args.length !== 2) return undefined;
  const [x, by] = e.args.map((arg) => (arg.kind === "value" ? arg.value : undefined));
  if (!by || !x || (x.kind !== "name" && x.kind !== "part" && x.kind !== "apply")) return undefined;
  const { name } = e.base;
  const { at } = e;
  if (name === "atomicexch") return { x, value: by, isPlain: true };
  if (Object.hasOwn(OPERATORS, name)) return { x, value: { kind: "binary", op: OPERATORS[name], a: x, b: grouped(by, at), at } };
  if (!Object.hasOwn(FUNCTIONS, name)) return undefined;
  const args = [x, by].map((value) => ({ kind: "value" as const, value }));
  return { x, value: { kind: "apply", base: { kind: "name", name: FUNCTIONS[name], at }, args, at } };
}

const grouped = (e: Expr, at: Location): Expr => (e.kind === "binary" || e.kind === "unary" ? { kind: "group", a: e, at } : e);

/** How often a variable is read, but for what atomic functions leave in it. */
function reads(unit: Exclude<Unit, { kind: "module" }>, { name }: Name): number {
  let count = unit.kind === "procedure" && (unit.dummies.includes(name) || (unit.result ?? unit.name) === name) ? 1 : 0;
  eachNode(unit.body, (node) => {
    if (node.kind === "name" && (node as Name).name === name) count++;
    const s = node as Stmt;
    if (s.kind === "assign" && s.target.kind === "name" && s.target.name === name) count--;
  });
  return count;
}
