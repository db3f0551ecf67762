import { loopFolds, withFolds, type LoopFold } from "../../ir/analysis/loop-folds.js";
import { BYTES, isFloat } from "../../ir/scalars.js";
import type { Expr, Stmt } from "../../ir/types.js";
import { declares, readOf, someExpr, walkExprs, walkStmts } from "../../ir/walk.js";
import { valType, type KernelCode } from "./kernel-code.js";
import type { LoopShape } from "./loop-shape.js";
import { Accumulator, emitFold } from "./reduction.js";
import { vectorShape, type VectorCode } from "./vector.js";
import { chooseWidth } from "./width.js";

/*
 * Loops of one element, or of a team, in vectors: where turns leave nothing but sums, and least and greatest values, of what lies side by side.
 */

type Loop = Extract<Stmt, { kind: "for" }>;

/** Turns that pay for a beginning and an end. */
const FEW_TURNS = 8;

/** Elements of a short record. */
const RECORD = 4;

/** How such a loop is run; undefined where turns go one by one. The order of sums is free in fast mode alone. */
export function shapeOfFolds(code: KernelCode, loop: Loop): LoopShape | undefined {
  const { name, start, stop, step, body } = loop;
  if (step !== 1 || !code.ranges.stepFits(loop)) return undefined;
  if (start.op === "const" && stop.op === "const" && Number(stop.value) - Number(start.value) < FEW_TURNS) return undefined;
  const folds = loopFolds(body);
  if (!folds || folds.length === 0 || (code.ordered && folds.some(isOrdered))) return undefined;
  const folded = withFolds(body, folds);
  if (!readsInOrder(code, name, folded)) return undefined;
  const variable = { op: "local", type: "i32", name } as const;
  const width = chooseWidth(code, folded, variable, folds, `turns of "${name}"`);
  if (width === 1) return undefined;
  return { variable, body: folded, width, accumulators: new Map(folds.map((fold) => [fold.name, new LocalFold(code, fold)])), short: true };
}

/** True where all that turns read lies side by side, or in short records; else to put lanes together costs what vectors save. */
function readsInOrder(code: KernelCode, counter: string, body: readonly Stmt[]): boolean {
  const own = new Set<string>();
  walkStmts(body, (stmt) => declares(stmt).forEach((name) => own.add(name)));
  const differs = (e: Expr): boolean =>
    someExpr(e, (x) => x.op === "load" || x.op === "element" || (x.op === "local" && (x.name === counter || own.has(x.name))));
  let inOrder = true;
  walkExprs(body, (e) => {
    const read = readOf(e);
    if (!read) return;
    const { step, leaves } = code.linearAddress(read.name, read.indices, { variable: `local:${counter}`, isFixed: () => true });
    const { type } = code.arrays.get(read.name)!;
    inOrder &&= Math.abs(step) <= RECORD * BYTES[type] && !leaves.some(({ expr }) => differs(expr));
  });
  return inOrder;
}

const isOrdered = ({ op, type }: LoopFold): boolean => op === "sum" && isFloat(type);

/** The running value of a fold: a local, and registers that are folded into it when the loop ends. */
class LocalFold extends Accumulator {
  private readonly local: number;

  constructor(code: KernelCode, fold: LoopFold) {
    super(code, fold, code.scratch, 0, true);
    this.local = code.localOf(fold.name, valType(fold.type));
  }

  override spill(vector: VectorCode): void {
    this.settle();
    this.foldBeyond(1, vector);
    for (let lane = 0; lane < vector.width; lane++)
      this.take(() => {
        this.fn.get(this.registers[0]);
        this.fn.lane(`${vectorShape(this.fold.type)}.extract_lane`, lane);
      });
  }

  override foldLane(_lane: () => void, value: () => void): void {
    this.take(value);
  }

  private take(value: () => void): void {
    emitFold(this.scalar, this.fold, () => this.fn.get(this.local), value);
    this.fn.set(this.local);
  }
}
