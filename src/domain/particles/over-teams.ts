import { define, localOf, paramOf } from "../../ir/by-name.js";
import { FreshNames } from "../../ir/passes/copy.js";
import type { BinaryFn, Expr, KernelIR, NumberType, Stmt, TeamResult } from "../../ir/types.js";
import { assignedLocals, mapExpr, mapStmts, walkExprs, walkStmts } from "../../ir/walk.js";
import type { CellTeams, OverTeams } from "../grid/cell-teams.js";
import { add, compare, index, int, mul, sub } from "../../ir/expressions.js";

const FOLDS: Partial<Record<BinaryFn, TeamResult["op"]>> = { add: "sum", min: "min", max: "max" };

/**
 * A kernel over the cells of a box, with a loop along the particles of each cell, as one over teams: each member has a cell, and its lanes share
 * out the particles. So neighbouring threads of a GPU read neighbouring particles. Sums over a cell's particles are sums over the lanes, in the
 * device's order. Undefined if the code has another form, or reduces over all cells.
 */
export function overTeams(ir: KernelIR, { members, extents, padding }: CellTeams): OverTeams | undefined {
  const at = ir.body.findIndex((stmt) => stmt.kind === "for");
  const loop = ir.body[at];
  const others = ir.body.filter((stmt) => stmt !== loop);
  const plain = others.every(({ kind }) => kind === "let" || kind === "store");
  if (loop?.kind !== "for" || !plain || ir.params.some(({ kind }) => kind === "reduce")) return undefined;
  const names = new FreshNames(ir);
  const results = resultsOf(loop, names);
  if (!results) return undefined;

  const { location } = ir;
  const [plane, cells, member, lane] = ["plane", "cells", "member", "lane"].map((wish) => names.fresh(wish));
  const [number, own] = [names.fresh("cell"), names.fresh("own_cell")];
  const isThere = compare("lt", localOf(number, "i32"), paramOf(cells, "i32"));
  const substitute = (expr: Expr): Expr => mapExpr(expr, (node) => (node.op === "index" ? localOf(axes[node.axis], "i32") : node));
  const axes = padding.map((_, axis) => names.fresh(`index_${axis}`));
  const across = (list: readonly number[]): number => list.reduce((a, b) => a * b, 1);
  const divided = (a: Expr, by: number): Expr => ({ op: "binary", type: "i32", fn: "div", a, b: int(by) });
  const rest = (a: Expr, by: number): Expr => ({ op: "binary", type: "i32", fn: "rem", a, b: int(by) });
  const start: Stmt[] = [
    define(number, add(mul(index(0), members), localOf(member, "i32")), location),
    // Members beyond the last cell do with that one, and leave nothing.
    define(own, { op: "binary", type: "i32", fn: "min", a: localOf(number, "i32"), b: sub(paramOf(cells, "i32"), 1) }, location),
    ...axes.map((name, axis) => {
      const whole = divided(localOf(own, "i32"), across(extents.slice(axis)));
      const index = axis === 0 ? add(whole, paramOf(plane, "i32")) : add(rest(whole, extents[axis - 1]), padding[axis]);
      return define(name, index, location);
    }),
  ];
  const substituted = mapStmts(ir.body, { expr: substitute });
  const { start: first, stop, body } = substituted[at] as Stmt & { kind: "for" };
  const [from, count] = [names.fresh("from"), names.fresh("particles")];
  const shared: Stmt[] = [
    define(from, first, location),
    define(count, { op: "select", type: "i32", cond: isThere, a: sub(stop, localOf(from, "i32")), b: int(0) }, location),
    ...overLanes(body, loop.name, { lane, from, count, results: [...results.values()].map(({ result }) => result), location }, results),
    ...[...results].map(([name, { result, fn }]): Stmt => {
      const before = localOf(name, result.type);
      return {
        kind: "assign",
        name,
        value: { op: "binary", type: result.type, fn, a: before, b: localOf(result.name, result.type) },
        location,
      };
    }),
  ];
  const finish = substituted.slice(at + 1);
  const team: Stmt = {
    kind: "teamFor",
    name: member,
    count: int(members),
    body: [
      ...start,
      ...substituted.slice(0, at),
      ...shared,
      ...finish.filter(({ kind }) => kind === "let"),
      { kind: "if", cond: isThere, then: finish.filter(({ kind }) => kind === "store"), else: [], location },
    ],
    location,
  };
  const params = ir.params.map((param) => (param.kind === "view" ? { ...param, disjoint: true } : param));
  const scalars = [plane, cells].map((name) => ({ kind: "scalar", name, type: "i32" }) as const);
  return { ir: { ...ir, policy: { kind: "team" }, params: [...params, ...scalars], body: [team] }, plane, cells };
}

interface Result {
  readonly result: TeamResult;
  readonly fn: BinaryFn;
}

/** The locals that particles are folded into, each by one operation; undefined if what a particle does depends on those before it. */
function resultsOf(loop: Stmt & { kind: "for" }, names: FreshNames): Map<string, Result> | undefined {
  const declared = new Set<string>();
  walkStmts(loop.body, (stmt) => void ((stmt.kind === "let" || stmt.kind === "for") && declared.add(stmt.name)));
  const outer = [...assignedLocals(loop.body)].filter((name) => !declared.has(name));
  const results = new Map<string, Result>();
  let sound = true;
  let reads = 0;
  walkStmts(loop.body, (stmt) => {
    if (stmt.kind !== "assign" || !outer.includes(stmt.name)) return;
    const { value, name } = stmt;
    const op = value.op === "binary" && value.a.op === "local" && value.a.name === name ? FOLDS[value.fn] : undefined;
    const known = results.get(name);
    if (!op || value.op !== "binary" || (known && known.fn !== value.fn)) return void (sound = false);
    reads++;
    if (!known) results.set(name, { result: { name: names.fresh(`${name}_all`), type: value.type as NumberType, op }, fn: value.fn });
  });
  // Each is read where it is folded into, and nowhere else.
  walkExprs(loop.body, (node) => void (node.op === "local" && results.has(node.name) && reads--));
  return sound && reads === 0 ? results : undefined;
}

interface Lanes {
  readonly lane: string;
  readonly from: string;
  readonly count: string;
  readonly results: readonly TeamResult[];
  readonly location: Stmt["location"];
}

/** The loop along particles, shared by lanes. */
function overLanes(
  body: Stmt[],
  particle: string,
  { lane, from, count, results, location }: Lanes,
  folds: ReadonlyMap<string, Result>,
): Stmt[] {
  const stmt = (s: Stmt): Stmt => {
    const fold = s.kind === "assign" ? folds.get(s.name) : undefined;
    if (s.kind !== "assign" || !fold || s.value.op !== "binary") return s;
    return { kind: "reduce", target: fold.result.name, value: s.value.b, location: s.location };
  };
  const one = [define(particle, add(localOf(from, "i32"), localOf(lane, "i32")), location), ...mapStmts(body, { stmt })];
  const common = { name: lane, count: localOf(count, "i32"), body: one, location };
  return [results.length > 0 ? { kind: "teamReduce", results: [...results], ...common } : { kind: "teamFor", ...common }];
}
