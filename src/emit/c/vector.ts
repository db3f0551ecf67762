import { definitionsOf, type Definitions } from "../../ir/analysis/affine.js";
import { loopFolds } from "../../ir/analysis/loop-folds.js";
import type { Expr, KernelIR, Stmt } from "../../ir/types.js";
import { isFloat } from "../../ir/scalars.js";
import { assignedLocals, blocksOf, children, mapChildren, sizeOf, walkExprs, walkStmts } from "../../ir/walk.js";

/**
 * Most statements and expressions in branches of vector code. All of them run for every element, under masks; and gcc needs a quarter of a
 * minute for ten thousand.
 */
const MAX_BRANCHED = 5000;

/** Elements of a record whose parts compilers load in whole vectors and sort. */
const RECORD = 4;
/** Statements and expressions of a branch that cost less for all elements than a wrong guess of the processor for some. */
const SHORT_BRANCH = 16;

/** The variable of a loop: a policy index, or the local that counts. */
export type LoopVariable = { index: number } | { local: string };

/** The loop's variable as an expression. */
export const variableOf = (variable: LoopVariable): Expr =>
  "index" in variable ? { op: "index", type: "i32", axis: variable.index } : { op: "local", type: "i32", name: variable.local };

/** Tells the loop's variable from other expressions. */
export const isVariable =
  (variable: LoopVariable) =>
  (e: Expr): boolean =>
    "index" in variable ? e.op === "index" && e.axis === variable.index : e.op === "local" && e.name === variable.local;

/** The expression with the local `name` in place of the loop's variable. */
export function atVariable(e: Expr, variable: LoopVariable, name: string): Expr {
  return isVariable(variable)(e) ? { op: "local", type: "i32", name } : mapChildren(e, (child) => atVariable(child, variable, name));
}

/** True where nothing keeps a compiler from running the statements for several elements at once. */
export function isStraight(body: readonly Stmt[]): boolean {
  let straight = true;
  walkStmts(body, ({ kind }) => {
    if (!["let", "assign", "store", "if", "reduce", "reduceJointly", "setElement"].includes(kind)) straight = false;
  });
  return straight;
}

/** The size of all that runs under a condition. */
const branched = (body: readonly Stmt[]): number =>
  body.flatMap((stmt) => (stmt.kind === "if" ? blocksOf(stmt) : [])).reduce((size, block) => size + sizeOf(block), 0);

/** Judges the loops of one kernel, given the element strides of its views as they stand in the code (`1` or a name). */
export class VectorLoops {
  private readonly definitions: Definitions;

  constructor(
    ir: KernelIR,
    private readonly strides: (view: string) => readonly string[],
  ) {
    this.definitions = definitionsOf(ir.body);
  }

  /**
   * True where vector instructions are sure to pay: straight code whose every access is contiguous along the loop or the same for all its
   * turns, without long branches. Elsewhere the compiler may judge for itself.
   *
   * @param farthest elements from one turn's access to the next one's, at most
   */
  pays(body: readonly Stmt[], variable: LoopVariable, farthest = 1): boolean {
    if (!isStraight(body) || branched(body) > MAX_BRANCHED) return false;
    const changing = assignedLocals(body);
    const contiguous = (view: string, indices: readonly Expr[]): boolean =>
      indices.every((index, axis) => {
        const step = this.step(index, variable, changing);
        return step === 0 || (step !== undefined && step > 0 && step * Number(this.strides(view)[axis]) <= farthest);
      });
    const near = (index: Expr): boolean => {
      const step = this.step(index, variable, changing);
      return step === 0 || step === 1;
    };
    let pays = true;
    walkStmts(body, (stmt) => {
      if (stmt.kind === "store" && !contiguous(stmt.view, stmt.indices)) pays = false;
      if (stmt.kind === "setElement" && !near(stmt.index)) pays = false;
    });
    walkExprs(body, (e) => {
      if (e.op === "load" && !contiguous(e.view, e.indices)) pays = false;
      if (e.op === "element" && !near(e.index)) pays = false;
      if (e.op === "checked" || e.op === "failed") pays = false;
      if (e.op === "table" && e.indices.some((i) => this.step(i, variable, changing) !== 0)) pays = false;
    });
    return pays;
  }

  /** True where a load moves by a whole row from turn to turn, so that neighbouring elements read memory in order, but the turns of one do not. */
  jumps(body: readonly Stmt[], variable: LoopVariable): boolean {
    const changing = assignedLocals(body);
    let jumps = false;
    walkExprs(body, (e) => {
      if (e.op !== "load") return;
      jumps ||= e.indices.some((index, axis) => Number.isNaN(Number(this.strides(e.view)[axis])) && !!this.step(index, variable, changing));
    });
    return jumps;
  }

  /**
   * Float sums of a serial loop that vectors may add up in another order: where it does nothing else, has a number of turns that no load decides,
   * and reads short records or single elements that follow each other.
   */
  sums(loop: Extract<Stmt, { kind: "for" }>): readonly string[] {
    const { body, name, start, stop, step } = loop;
    if (step !== 1 || !this.isSettled(start) || !this.isSettled(stop) || !this.pays(body, { local: name }, RECORD)) return [];
    const folds = loopFolds(body) ?? [];
    return folds.every(({ op, type }) => op === "sum" && isFloat(type)) ? folds.map(({ name }) => name) : [];
  }

  /** True of a number that depends on parameters, extents and policy indices alone. */
  private isSettled(e: Expr): boolean {
    if (e.op === "local") {
      const definition = this.definitions.get(e.name);
      return definition !== undefined && this.isSettled(definition);
    }
    if (["const", "param", "extent", "index"].includes(e.op)) return true;
    return (e.op === "binary" || e.op === "cast") && children(e).every((child) => this.isSettled(child));
  }

  /**
   * True of a serial loop that makes scalars of elements which do not lie side by side, over a number of turns that is not known: vector
   * instructions would gather them one by one, add them one after the other, and pay for the turns that are left over.
   */
  gathers({ name, start, stop, body }: Extract<Stmt, { kind: "for" }>): boolean {
    if (start.op === "const" && stop.op === "const") return false;
    let scalars = true;
    walkStmts(body, ({ kind }) => {
      if (kind !== "let" && kind !== "assign" && kind !== "if") scalars = false;
    });
    return scalars && !this.pays(body, { local: name }, branched(body) > SHORT_BRANCH ? 1 : RECORD);
  }

  /**
   * The order in which loops over a range nest best, outermost first: innermost the axis along which most accesses are contiguous, the
   * others by the length of their steps through memory. `strides` are the views' in elements; what is equal stays as it is written.
   */
  order(body: readonly Stmt[], rank: number, strides: (view: string) => readonly number[]): number[] {
    const changing = assignedLocals(body);
    const contiguous = Array<number>(rank).fill(0);
    const lengths = Array<number>(rank).fill(0);
    const weigh = (view: string, indices: readonly Expr[]): void => {
      for (let axis = 0; axis < rank; axis++) {
        const steps = indices.map((index, n) => (this.step(index, { index: axis }, changing) ?? 0) * strides(view)[n]);
        const step = Math.abs(steps.reduce((a, b) => a + b, 0));
        if (step === 1) contiguous[axis]++;
        lengths[axis] += step;
      }
    };
    walkStmts(body, (stmt) => {
      if (stmt.kind === "store") weigh(stmt.view, stmt.indices);
    });
    walkExprs(body, (e) => {
      if (e.op === "load") weigh(e.view, e.indices);
    });
    const innermost = contiguous.lastIndexOf(Math.max(...contiguous));
    const outer = [...lengths.keys()].filter((axis) => axis !== innermost).sort((a, b) => lengths[b] - lengths[a]);
    return [...outer, innermost];
  }

  /** By how much an integer expression grows from one turn of the loop to the next; undefined if that is not constant. */
  private step(e: Expr, variable: LoopVariable, changing: ReadonlySet<string>): number | undefined {
    if (e.op === "index") return "index" in variable && e.axis === variable.index ? 1 : 0;
    if (e.op === "local") {
      if ("local" in variable && e.name === variable.local) return 1;
      const definition = this.definitions.get(e.name);
      return definition ? this.step(definition, variable, changing) : changing.has(e.name) ? undefined : 0;
    }
    const parts = children(e).map((child) => this.step(child, variable, changing));
    if (parts.every((part) => part === 0)) return 0;
    const [a, b] = parts;
    if (e.op !== "binary" || a === undefined || b === undefined) return undefined;
    if (e.fn === "add") return a + b;
    if (e.fn === "sub") return a - b;
    const constant = (x: Expr) => (x.op === "const" ? Number(x.value) : undefined);
    const factor = constant(e.a) ?? constant(e.b);
    return e.fn === "mul" && factor !== undefined ? (a + b) * factor : undefined;
  }
}
