import { choiceOf } from "../../ir/joint-choice.js";
import { foldGroups } from "../../ir/joint.js";
import { numberText } from "./expr.js";
import { emitCombine, emitJoint, jointText } from "./fold.js";
import { isWide } from "../../ir/scalars.js";
import { identityOf } from "../../ir/identity.js";
import { foldLanes } from "../../ir/lanes.js";
import {
  REDUCTION_LANES,
  type JointFold,
  type NumberType,
  type NumericType,
  type ReduceParam,
  type Stmt,
  type TeamResult,
} from "../../ir/types.js";
import { braced, indent, type Lines } from "./lines.js";
import type { JsNames } from "./names.js";
import { ARRAY } from "./arrays.js";
import { foldedType, wideBinary } from "./wide.js";

/** A result being folded: a reduce parameter, or a result of a teamReduce. */
export type Folded = ReduceParam | TeamResult;

/** The body whose folds they are. */
interface Folding {
  readonly names: JsNames;
  /** Declarations that the code needs once, before the kernel's function. */
  readonly declarations: Lines;
  /** True if a loop's body is small enough to be written out several times. */
  unrolls(body: readonly Stmt[], copies: number): boolean;
  /** The name of the author's own fold. */
  foldName(folded: Folded): string;
  /** Runs `emit` while `reduce` statements fold into the results' places. */
  withAccumulators<T>(results: readonly Folded[], place: (r: Folded) => string, emit: () => T): T;
}

const ALL = [...Array(REDUCTION_LANES).keys()];

/**
 * Lanes into which a loop folds: index n from its first folds into lane n mod 8, then the lanes fold pairwise to one value. They are
 * variables where the loop's body is written out for each lane, and an array where it is too large for that.
 */
export class FoldLanes {
  /** Names of the lanes of each result, or of the array that holds them. */
  private readonly lanes = new Map<string, string[]>();
  private readonly arrays = new Map<string, string>();
  private readonly variables: boolean;

  /** @param emit the body's code, which may be asked for several times */
  constructor(
    private readonly body: Folding,
    private readonly results: readonly Folded[],
    stmts: readonly Stmt[],
    private readonly emit: () => Lines,
  ) {
    this.variables = body.unrolls(stmts, results.length);
    for (const { name, type } of results) {
      const stem = `lane_${name}`;
      if (this.variables)
        this.lanes.set(
          name,
          ALL.map((k) => body.names.fresh(`${stem}_${k}`)),
        );
      else {
        const array = body.names.fresh(stem);
        body.declarations.push(`const ${array} = new ${ARRAY[foldedType(type)]}(${REDUCTION_LANES});`);
        this.arrays.set(name, array);
      }
    }
  }

  /** Sets the lanes to the identity. */
  get start(): Lines {
    return this.results.map((r) =>
      this.variables
        ? `let ${ALL.map((k) => `${this.lane(r, k)} = ${identityText(r)}`).join(", ")};`
        : `${this.arrays.get(r.name)}.fill(${identityText(r)});`,
    );
  }

  /** The loop over `index` from `first` to before `end`. */
  loop(index: string, first: string, end: string): Lines {
    const { names } = this.body;
    const inLane = (k: number | string): Lines => this.body.withAccumulators(this.results, (r) => this.lane(r, k), this.emit);
    if (!this.variables) {
      const k = names.fresh("k");
      const step = `${index}++, ${k} = ${k} + 1 & ${REDUCTION_LANES - 1}`;
      return [`for (let ${index} = ${first}, ${k} = 0; ${index} < ${end}; ${step}) {`, ...indent(inLane(k)), "}"];
    }
    const n = names.fresh("n");
    const last = names.fresh("last");
    const copy = (k: number): Lines => [`const ${index} = ${k === 0 ? n : `${n} + ${k} | 0`};`, ...inLane(k)];
    return [
      `let ${n} = ${first};`,
      `for (const ${last} = ${end} - ${REDUCTION_LANES - 1}; ${n} < ${last}; ${n} += ${REDUCTION_LANES}) {`,
      ...indent(ALL.flatMap((k) => braced("", copy(k)))),
      "}",
      ...ALL.slice(0, -1).flatMap((k) => braced(`if (${n}${k ? ` + ${k}` : ""} < ${end}) `, copy(k))),
    ];
  }

  /** Statements before the results are taken: folds lanes of several parts to the first. */
  get end(): Lines {
    return foldGroups(this.results.filter(isJoint)).flatMap((parts) =>
      HALVES.flatMap(([k, other]) =>
        braced(
          "",
          foldJointly(
            this.body,
            parts,
            parts.map((r) => this.lane(r, k)),
            parts.map((r) => this.lane(r, other)),
          ),
        ),
      ),
    );
  }

  /** The lanes folded to one value. */
  result(r: Folded): string {
    if (isJoint(r)) return this.lane(r, 0);
    const lanes = ALL.map((k) => this.lane(r, k));
    return foldLanes(lanes, (a, b) => combineText(this.body, r, operand(a), operand(b)));
  }

  private lane(r: Folded, k: number | string): string {
    return this.variables ? this.lanes.get(r.name)![Number(k)] : `${this.arrays.get(r.name)}[${k}]`;
  }
}

/** Statements that fold values into the parts of a joint reduction; they need a block of their own. */
export function foldJointly(
  body: Pick<Folding, "foldName" | "names">,
  parts: readonly Folded[],
  into: readonly string[],
  values: readonly string[],
): Lines {
  const { joint } = parts[0] as ReduceParam;
  const choice = choiceOf(joint!);
  const kept = into.map((place, n) => `${place} = ${values[n]};`);
  if (choice) return [`if (${jointText(joint!, choice, into, values)}) {`, ...indent(kept), "}"];
  const folded = parts.map(() => body.names.fresh("folded"));
  return [
    ...parts.map((part, n) => `const ${folded[n]} = ${body.foldName(part)}(${[...into, ...values].join(", ")});`),
    ...into.map((place, n) => `${place} = ${folded[n]};`),
  ];
}

/** Declarations of the functions that fold reductions with operations of their own. */
export function ownFolds(body: Pick<Folding, "foldName">, reductions: readonly ReduceParam[]): Lines {
  return reductions.flatMap((r) => {
    const text = r.joint ? emitJoint(r.joint, r.joint.parts.indexOf(r.name)) : r.combine && emitCombine(r.combine);
    return text === undefined ? [] : [`const ${body.foldName(r)} = (() => {`, ...indent(text.split("\n")), "})();"];
  });
}

const isJoint = (r: Folded): r is ReduceParam & { readonly joint: JointFold } => r.op === "joint";

/** Lanes that fold in turn, with those that they take, until the first has all. */
const HALVES: readonly (readonly [number, number])[] = [4, 2, 1].flatMap((half) =>
  Array.from({ length: half }, (_, k) => [k, k + half] as const),
);

/** The fold of two operands. */
export function combineText(body: Pick<Folding, "foldName">, folded: Folded, a: string, b: string): string {
  if (folded.op === "joint") throw new Error("one part of a joint reduction is folded alone");
  return folded.op === "custom" ? `${body.foldName(folded)}(${a}, ${b})` : combineBuiltIn(folded.op, folded.type, a, b);
}

/** The same for a fold that is not the author's own. */
export function combineBuiltIn(op: "sum" | "min" | "max", type: NumericType, a: string, b: string): string {
  if (isWide(type)) return wideBinary(op === "sum" ? "add" : op, type, a, b);
  return op === "sum" ? SUM[type](a, b) : `Math.${op}(${a}, ${b})`;
}

const SUM: Record<NumberType, (a: string, b: string) => string> = {
  f64: (a, b) => `${a} + ${b}`,
  f32: (a, b) => `Math.fround(${a} + ${b})`,
  i32: (a, b) => `${a} + ${b} | 0`,
  u32: (a, b) => `${a} + ${b} >>> 0`,
};

const operand = (text: string): string => (/^[\w$.]+(\[[\w$]+\])?$/.test(text) ? text : `(${text})`);

/** The identity of a fold, as text. */
export function identityText(folded: Folded): string {
  return numberText("identity" in folded ? folded.identity : identityOf(folded.op, folded.type));
}
