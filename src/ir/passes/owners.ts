import { jsonText } from "../../base/json.js";
import { definitionsOf, type Definitions } from "../analysis/affine.js";
import { cyclesOf, cycleTurns, UPDATE } from "../analysis/cycles.js";
import { not } from "../expressions.js";
import { foldConstants } from "../constant-folding.js";
import { literal } from "../simplify.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { blocksOf, exprsOf, mapBlocks, mapExpr, mapStmts, someExpr, walkExpr, walkStmts } from "../walk.js";
import { copyBody, FreshNames } from "./copy.js";
import { sequenceChecks } from "./sequence-checks.js";
import { removeDead } from "./tidy.js";

/*
 * Ordered scatter by owners: each owner has a part of the target along one axis, goes through all elements in order, and adds what
 * falls into its part. Every target element so receives its contributions one by one in element order, whatever the number of
 * owners, and no memory but the target's is touched. The price is that each owner evaluates the indices of all elements.
 *
 * Where indices are checked (passes/check-indices.ts), each owner makes all checks of an element first, so that all see the same failure;
 * what is in no owner's part would be seen by nobody else. Of an element that has passed no index is outside.
 */

/** A range kernel with one more index, the outermost: the owner. */
export interface OwnersKernel {
  readonly ir: KernelIR;
  /** For each scatter parameter the i32 scalar parameter that takes the length of a part. */
  readonly partLengths: Readonly<Record<string, string>>;
  /** How many times faster than in one go `owners` owners are together, estimated. */
  gain(owners: number): number;
}

/** Contributions of one element to neighbouring indices: base + least .. base + greatest along the owned axis. */
interface Cluster {
  target: string;
  base: Expr;
  least: number;
  greatest: number;
}

/** More clusters than this would make the test of a whole element cost more than the tests of its contributions. */
const MOST_CLUSTERS = 2;

/** Why owners cannot run the kernel; undefined if they can. */
export function whyNoOwners(ir: KernelIR): string | undefined {
  if (ir.policy.kind === "team") return "owner computes is for ranges, not teams";
  if (ir.policy.rank === 4) return "the range has four axes";
  let reason: string | undefined;
  walkStmts(ir.body, ({ kind }) => {
    if (kind === "reduce" || kind === "reduceJointly") reason ??= "the kernel also reduces";
    if (kind === "store") reason ??= "the kernel also stores";
    if (kind === "print") reason ??= "the kernel also prints";
    if (kind === "atomic") reason ??= "the kernel also changes atomic arrays";
  });
  return reason;
}

/** The axis of a scatter target along which the contributions of an element lie closest together, out of `axes`. */
export function ownedAxis(ir: KernelIR, target: string, axes: readonly number[]): number {
  const count = (axis: number) => new Clusters(ir, { [target]: axis }).distinct;
  return axes.reduce((best, axis) => (count(axis) < count(best) ? axis : best));
}

/** The kernel for owners; `axes` are the axes of the scatter targets that are cut into parts. See `whyNoOwners`. */
export function ownersKernel(ir: KernelIR, axes: Readonly<Record<string, number>>): OwnersKernel {
  if (ir.policy.kind === "team") throw new Error(`kernel "${ir.name}" is a team kernel`);
  const names = new FreshNames(ir);
  const targets = Object.keys(axes);
  const partLengths = Object.fromEntries(targets.map((target) => [target, names.fresh(`${target}_part`)]));
  const firsts = Object.fromEntries(targets.map((target) => [target, names.fresh(`${target}_first`)]));
  const writer = new Writer(ir, checksOf(ir, names), axes, partLengths, firsts);
  const location = ir.location;
  const openings = targets.map((target): Stmt => {
    const init = i32("mul", { op: "index", type: "i32", axis: 0 }, { op: "param", type: "i32", name: partLengths[target]! });
    return { kind: "let", name: firsts[target]!, type: "i32", init, location };
  });
  const params = [...ir.params, ...targets.map((target) => ({ kind: "scalar", name: partLengths[target]!, type: "i32" }) as const)];
  const policy = { kind: "range", rank: ir.policy.rank + 1 } as const;
  const checks = ir.checks && ({ ...ir.checks, outerAxes: 1 } as const);
  const owned = foldConstants({ ...ir, params, policy, checks, body: [...openings, ...writer.body()] });
  return { ir: owned, partLengths, gain: (owners) => writer.gain(owners) };
}

/** All checks of an element by themselves, with what they need. */
function checksOf(ir: KernelIR, names: FreshNames): Stmt[] {
  if (!ir.checks) return [];
  const sequenced = sequenceChecks(ir);
  const body = mapStmts(sequenced.body, { stmt: (stmt) => (stmt.kind === "scatter" ? [] : stmt) });
  return copyBody(removeDead({ ...sequenced, body }).body, "check", names, (node) => node);
}

class Writer {
  private readonly clusters: Clusters;
  private readonly shifted: KernelIR;
  /** Work of every owner, of owners whose part an element may add to, and of the one owner; in cycles. */
  private readonly work = { all: 0, met: 0, own: 0 };
  /** Branches on data, among all elements and among those that are met. */
  private readonly branches = { all: 0, met: 0 };
  private readonly chosen: readonly Cluster[];
  private readonly checks: readonly Stmt[];

  constructor(
    ir: KernelIR,
    checks: readonly Stmt[],
    private readonly axes: Readonly<Record<string, number>>,
    private readonly partLengths: Readonly<Record<string, string>>,
    private readonly firsts: Readonly<Record<string, string>>,
  ) {
    const shift = (root: Expr) => mapExpr(root, (node) => (node.op === "index" ? { ...node, axis: node.axis + 1 } : node));
    this.shifted = { ...ir, body: mapStmts(ir.checks?.unchecked ?? ir.body, { expr: shift }) };
    this.checks = mapStmts(checks, { expr: shift });
    this.clusters = new Clusters(this.shifted, axes);
    this.chosen = this.clusters.list.length <= MOST_CLUSTERS && this.clusters.complete ? this.clusters.list : [];
  }

  body(): Stmt[] {
    const { checks, location } = this.shifted;
    if (!checks) return this.updates();
    const passed: Stmt = { kind: "if", cond: not({ op: "failed", type: "bool" }), then: this.updates(), else: [], location };
    return [...this.guarded(this.checks, 1, "all"), passed];
  }

  private updates(): Stmt[] {
    const { body, location } = this.shifted;
    if (this.chosen.length === 0) return this.guarded(body, 1, "all");
    const early = this.clusters.definitions;
    const first = body.filter((stmt) => early.has(stmt));
    const rest = body.filter((stmt) => !early.has(stmt));
    for (const stmt of first) this.count("all", exprsOf(stmt), 1);
    const meets = this.chosen
      .map((cluster) => this.meets(cluster))
      .reduce((a, b): Expr => ({ op: "logical", type: "bool", fn: "or", a, b }));
    this.count("all", [meets], 1);
    if (this.chosen.some(({ base }) => this.clusters.isData(base))) this.branches.all = 1;
    return [...first, { kind: "if", cond: meets, then: this.guarded(rest, 1, "met"), else: [], location }];
  }

  gain(owners: number): number {
    const { work, branches, chosen } = this;
    const missed = (share: number) => 2 * share * (1 - share) * MISPREDICTED;
    const met = chosen.length === 0 ? 1 : Math.min(1, chosen.length / owners);
    const all = work.all + branches.all * missed(chosen.length === 0 ? 1 / owners : met);
    const part = all + met * (work.met + branches.met * missed(1 / (met * owners))) + work.own / owners;
    return (work.all + work.met + work.own) / part;
  }

  /** The statements with each scatter under the condition that its target is owned. */
  private guarded(list: readonly Stmt[], turns: number, where: "all" | "met"): Stmt[] {
    const result: Stmt[] = [];
    let run: Stmt[] = [];
    const flush = () => {
      if (run.length > 0) result.push(...this.guardedRun(run as ScatterStmt[], turns, where));
      run = [];
    };
    for (const stmt of list) {
      if (stmt.kind === "scatter") {
        run.push(stmt);
        continue;
      }
      flush();
      this.count(where, exprsOf(stmt), turns);
      result.push(mapBlocks(stmt, (block) => this.guarded(block, turns * cycleTurns(stmt), where)));
    }
    flush();
    return result;
  }

  /** Contributions that follow each other, those with one owned index under one condition. */
  private guardedRun(run: readonly ScatterStmt[], turns: number, where: "all" | "met"): Stmt[] {
    const groups: { target: string; base: string; offset: number; index: Expr; stmts: ScatterStmt[] }[] = [];
    for (const stmt of run) {
      const { target } = stmt;
      const index = this.ownedIndex(stmt);
      const { base, offset } = this.clusters.split(index);
      // Past contributions that certainly go to other elements of the target: the order among those is free.
      const last = groups.findLastIndex((g) => g.target === target && (g.base !== base || g.offset === offset));
      if (last >= 0 && groups[last]!.base === base) groups[last]!.stmts.push(stmt);
      else groups.push({ target, base, offset, index, stmts: [stmt] });
    }
    const guards = groups.map(({ target, index, stmts }): Stmt => {
      const cond = this.within(target, index, 0);
      this.count(where, [cond], turns);
      if (this.clusters.isData(index) && this.chosen.length !== 1) this.branches[where] += turns;
      for (const { indices, value } of stmts) {
        this.count("own", [...indices, value], turns);
        this.work.own += UPDATE * turns;
      }
      return { kind: "if", cond, then: stmts, else: [], location: stmts[0]!.location };
    });
    const { target, base } = groups[0]!;
    if (groups.length === 1 || groups.some((g) => g.target !== target || g.base !== base)) return guards;
    // Mostly all of a cluster is the owner's: its contributions then stay as they were written.
    const byOffset = groups.toSorted((g, h) => g.offset - h.offset);
    const [a, b] = [this.within(target, byOffset[0]!.index, 0), this.within(target, byOffset.at(-1)!.index, 0)];
    return [
      { kind: "if", cond: { op: "logical", type: "bool", fn: "and", a, b }, then: [...run], else: guards, location: run[0]!.location },
    ];
  }

  private ownedIndex({ target, indices }: ScatterStmt): Expr {
    return indices[this.axes[target]!]!;
  }

  /** True where the element may add into the owner's part. */
  private meets({ target, base, least, greatest }: Cluster): Expr {
    return this.within(target, i32("add", base, literal("i32", greatest)), greatest - least);
  }

  /** 0 <= index - first < part + wider, in one comparison. */
  private within(target: string, index: Expr, wider: number): Expr {
    const from = i32("sub", index, { op: "local", type: "i32", name: this.firsts[target]! });
    const length = i32("add", { op: "param", type: "i32", name: this.partLengths[target]! }, literal("i32", wider));
    const unsigned = (a: Expr): Expr => ({ op: "cast", type: "u32", a });
    return { op: "compare", type: "bool", fn: "lt", a: unsigned(from), b: unsigned(length) };
  }

  private count(where: keyof Writer["work"], exprs: readonly Expr[], turns: number): void {
    for (const expr of exprs) walkExpr(expr, (node) => (this.work[where] += turns * cyclesOf(node)));
  }
}

type ScatterStmt = Extract<Stmt, { kind: "scatter" }>;

/** The places along the owned axes that an element adds into. */
class Clusters {
  readonly list: Cluster[] = [];
  /** False where some place is known only deep inside the body. */
  complete = true;
  /** The declarations at the top of the body that the clusters' bases need. */
  readonly definitions = new Set<Stmt>();
  private others = 0;
  private readonly known: Definitions;
  private readonly top: ReadonlyMap<string, Stmt>;

  constructor(
    ir: KernelIR,
    private readonly axes: Readonly<Record<string, number>>,
  ) {
    this.known = definitionsOf(ir.body);
    this.top = new Map(ir.body.flatMap((stmt): [string, Stmt][] => (stmt.kind === "let" ? [[stmt.name, stmt]] : [])));
    this.visit(ir.body, true);
  }

  /** How many there are, those that only the depth of the body knows included. */
  get distinct(): number {
    return this.list.length + this.others;
  }

  /** True where the value depends on what arrays hold. */
  isData(expr: Expr): boolean {
    return someExpr(expr, (node) => {
      if (node.op === "load" || node.op === "element") return true;
      if (node.op !== "local") return false;
      const definition = this.known.get(node.name);
      return definition ? this.isData(definition) : !this.known.has(node.name);
    });
  }

  private visit(list: readonly Stmt[], always: boolean): void {
    for (const stmt of list) {
      if (stmt.kind === "scatter" && Object.hasOwn(this.axes, stmt.target))
        this.add(stmt.target, stmt.indices[this.axes[stmt.target]!]!, always);
      for (const block of blocksOf(stmt)) this.visit(block, false);
    }
  }

  private add(target: string, index: Expr, always: boolean): void {
    const { base, offset } = this.parts(index);
    if (!this.isEarly(base, always)) {
      this.complete = false;
      this.others++;
      return;
    }
    const key = keyOf(base);
    const same = this.list.find((c) => c.target === target && keyOf(c.base) === key);
    if (same) {
      same.least = Math.min(same.least, offset);
      same.greatest = Math.max(same.greatest, offset);
    } else this.list.push({ target, base, least: offset, greatest: offset });
    this.need(base);
  }

  /** An index as a base and a distance: indices of one statement list with equal bases differ by their distances. */
  split(index: Expr): { base: string; offset: number } {
    const { base, offset } = this.parts(index);
    return { base: keyOf(base), offset };
  }

  /** An index as base + constant, seen through locals that stay as they are. */
  private parts(index: Expr): { base: Expr; offset: number } {
    if (index.op === "binary" && (index.fn === "add" || index.fn === "sub") && index.b.op === "const") {
      const { base, offset } = this.parts(index.a);
      return { base, offset: offset + (index.fn === "add" ? 1 : -1) * Number(index.b.value) };
    }
    const definition = index.op === "local" ? this.known.get(index.name) : undefined;
    const inner = definition && this.parts(definition);
    const lasts =
      inner && (inner.base.op === "local" ? this.known.has(inner.base.name) : inner.base.op === "index" || inner.base.op === "param");
    return lasts ? inner : { base: index, offset: 0 };
  }

  /** True where the value can be had at the top of the body; memory is read there only if it is read in any case. */
  private isEarly(expr: Expr, always: boolean): boolean {
    return !someExpr(expr, (node) => {
      if ((node.op === "load" && !always) || node.op === "element") return true;
      if (node.op !== "local") return false;
      const definition = this.top.has(node.name) ? this.known.get(node.name) : undefined;
      return definition === undefined || !this.isEarly(definition, true);
    });
  }

  private need(expr: Expr): void {
    walkExpr(expr, (node) => {
      const stmt = node.op === "local" ? this.top.get(node.name) : undefined;
      if (stmt?.kind !== "let" || this.definitions.has(stmt)) return;
      this.need(stmt.init!);
      this.definitions.add(stmt);
    });
  }
}

/**
 * Cycles of a wrong guess of the processor, in units in which an operation takes what it takes alone: while it guesses right it does several at a time.
 * With it the gains of 16 owners are estimated at 1.8 to 1.9 times those that were measured of C, and more on `wasm` (bench/results/many-cores-xeon.json).
 */
const MISPREDICTED = 80;

const i32 = (fn: "add" | "sub" | "mul", a: Expr, b: Expr): Expr => ({ op: "binary", type: "i32", fn, a, b });

/** Equal for expressions that are equal but for where they were written. */
const keyOf = (expr: Expr): string => jsonText(expr, "location");
