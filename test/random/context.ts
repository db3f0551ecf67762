import type { NumberType } from "../../src/ir/types.js";
import type { RandomScalar } from "./scalars.js";
import { chance, pick, type Choices, type Scope, type Variable } from "./expressions.js";
import type { Block, CompositeName, Part, Stmt } from "./program.js";

/** What may be written at a point of a random kernel. */
export interface Context extends Scope {
  /** Deepest nesting of statements and of expressions from here on. */
  nesting: number;
  depth: number;
  inLoop: boolean;
  /** `return;` may stand here, or a return of this type. */
  returns: "none" | "void" | RandomScalar;
  /** Views that are written at this element's place, as text such as `yd[i][j]`. */
  outputs: { type: NumberType; element: string }[];
  /** Views of results that are not exact, in the same form; nothing reads them. */
  inexact: { type: NumberType; element: string }[];
  /** Views of which a row may be named. */
  rows: { type: NumberType; row: string; rest: string }[];
  /** Variables that hold objects. */
  records: { name: string; fields: Readonly<Record<string, RandomScalar>> }[];
  /** Variables that hold values of several numbers, and elements of arrays of such that are assigned. */
  composites: { name: string; make: CompositeName; isPlace?: true }[];
  /** Parameters of the kernel may be used: helpers, reductions and scatter targets. */
  kernel: boolean;
}

/** A place at the top of a kernel or helper, where the indices are in reach. */
export const contextOf = (indices: readonly string[]): Context => ({
  variables: indices.map((name): Variable => ({ name, type: "i32", assignable: false })),
  arrays: [],
  sources: [],
  effects: true,
  nesting: 2,
  depth: 3,
  inLoop: false,
  returns: "none",
  outputs: [],
  inexact: [],
  rows: [],
  records: [],
  composites: [],
  kernel: false,
});

/** A place inside another: what is declared there does not come out. */
export const inside = (place: Context, more: Partial<Context> = {}): Context => ({
  ...place,
  variables: [...place.variables],
  arrays: [...place.arrays],
  sources: [...place.sources],
  rows: [...place.rows],
  records: [...place.records],
  composites: [...place.composites],
  nesting: place.nesting - 1,
  ...more,
});

export const stmt = (...parts: Part[]): Stmt => ({ kind: "stmt", parts });
export const block = (stmts: readonly Stmt[]): Block => ({ kind: "block", stmts });

/** Random choices, and names that are not yet taken. */
export class Dice {
  private names = 0;

  constructor(readonly choices: Choices) {}

  below(n: number): number {
    return this.choices.below(n);
  }
  chance(percent: number): boolean {
    return chance(this.choices, percent);
  }
  pick<T>(list: readonly T[]): T {
    return pick(this.choices, list);
  }
  /** Some of a list, at least one. */
  some<T>(list: readonly T[]): T[] {
    const kept = list.filter(() => this.chance(50));
    return kept.length ? kept : [this.pick(list)];
  }
  name(prefix: string): string {
    return `${prefix}${++this.names}`;
  }
}
