import type { NumberElement, NumberType } from "../../src/ir/types.js";
import {
  argmax,
  argmin,
  atomic,
  bool,
  f32,
  f64,
  fixed,
  i32,
  max,
  min,
  reducer,
  scatter,
  sum,
  table,
  u32,
  view,
  type Rank,
} from "../../src/kernel/declare/params.js";
import { valueType } from "../../src/ir/scalars.js";
import { bf16, f16, i16, i8, u16, u8 } from "../../src/kernel/declare/storage.js";
import { LOOKUP, NUMERIC } from "./expressions.js";
import type { Dice, Context } from "./context.js";
import { ATOMICS } from "./atomics.js";
import { MAX_RANK } from "../../src/base/rank.js";
import { listComposite, NAMES } from "./composites.js";
import { BUILTINS, COMPOSITES, type Declared, type Part } from "./program.js";

const TOKENS = { f64, f32, i32, u32, bool, u8, i8, u16, i16, f16, bf16 };
/** Types that kernels store and do not compute with. */
const INTEGERS = ["u8", "i8", "u16", "i16"] as const;
const NARROW = [...INTEGERS, "f16", "bf16"] as const;
export const TAG: Record<NumberElement, string> = {
  f64: "d",
  f32: "f",
  i32: "i",
  u32: "u",
  u8: "b",
  i8: "a",
  u16: "v",
  i16: "j",
  f16: "h",
  bf16: "g",
};
/** Begins the names of views whose contents are not exact. */
export const INEXACT = "inexact_";
/** Extents of the views that are read at any place. */
const POOL = 16,
  ROWS = 5,
  COLUMNS = 7;

/** Declares a random kernel's parameters, and lists in a place how they may be read. Those that are not used are dropped in the end. */
export class Parameters {
  readonly all = new Map<string, Declared>();

  /** @param faithful js-debug runs the program, which reports that a value becomes infinite in 16 bits */
  constructor(
    private readonly dice: Dice,
    private readonly faithful: boolean,
  ) {}

  view(name: string, element: NumberElement, shape: readonly number[], indices = false): void {
    const token = view(TOKENS[element], shape.length as Rank);
    const layout = this.dice.pick(["right", "right", "right", "left", "strided"] as const);
    this.all.set(name, { kind: "view", token, element, shape, layout, indices });
  }

  helper(name: string, parts: readonly Part[]): void {
    this.all.set(name, { kind: "helper", parts });
  }

  /** Views that are read near the element's own place (`shape` is larger by 2) and at any place, scalars, tables. */
  inputs(place: Context, shape: readonly number[], indices: readonly string[]): void {
    for (const type of NUMERIC) {
      const tag = TAG[type];
      const at = indices.map((i) => this.dice.pick([`[${i}]`, `[${i} + 1]`, `[${i} + 2]`]));
      this.view(`x${tag}`, type, shape);
      place.sources.push({ type, parts: [`x${tag}${at.join("")}`], args: [] });
      if (at.length > 1) place.rows.push({ type, row: `x${tag}${at[0]}`, rest: at.slice(1).join("") });
      this.view(`p${tag}`, type, [POOL]);
      place.arrays.push({ name: `p${tag}`, type, length: POOL, writable: false });
      this.scalar(place, `s${tag}`, type);
    }
    const type = this.dice.pick(NUMERIC);
    this.view("grid", type, [ROWS, COLUMNS]);
    place.sources.push({ type, parts: ["grid[", "][", "]"], args: [{ index: ROWS }, { index: COLUMNS }] });
    const narrow = this.dice.pick(NARROW);
    this.view("narrow", narrow, shape);
    place.sources.push({ type: valueType(narrow), parts: [`narrow${indices.map((i) => `[${i}]`).join("")}`], args: [] });
    this.view("at", "i32", [shape[shape.length - 1]], true);
    this.view(LOOKUP, "i32", [POOL], true);
    place.arrays.push({ name: LOOKUP, type: "i32", length: POOL, writable: false });
    const gathered = this.dice.pick(NUMERIC);
    place.sources.push({ type: gathered, parts: [`p${TAG[gathered]}[at[${indices[indices.length - 1]}]]`], args: [] });
    place.sources.push({ type: "i32", parts: [`p${TAG[gathered]}.length`], args: [] });
    this.all.set("sb", { kind: "scalar", token: bool, type: "bool", value: this.dice.chance(50) });
    place.variables.push({ name: "sb", type: "bool", assignable: false });
    this.all.set("order", { kind: "fixed", token: fixed(i32), type: "i32", value: 1 + this.dice.below(4) });
    place.variables.push({ name: "order", type: "i32", assignable: false });
    this.all.set("weights", { kind: "table", token: table(f64, WEIGHTS) });
    place.sources.push({ type: "f64", parts: ["weights[", "][", "]"], args: [{ index: 2 }, { index: 3 }] });
    this.all.set("offsets", { kind: "table", token: table(i32, [0, -1, 5, 2147483647]) });
    place.sources.push({ type: "i32", parts: ["offsets[", "]"], args: [{ index: 4 }] });
    for (const name of Object.keys(BUILTINS)) this.all.set(name, { kind: "builtin" });
  }

  private scalar(place: Context, name: string, type: NumberType): void {
    this.all.set(name, { kind: "scalar", token: TOKENS[type], type, value: this.dice.pick(SCALARS[type]) });
    place.variables.push({ name, type, assignable: false });
  }

  /** Views that are written, and read, at the element's own place. */
  outputs(place: Context, shape: readonly number[], indices: readonly string[]): void {
    for (const element of this.dice.some([...NUMERIC, this.dice.pick(this.faithful ? INTEGERS : NARROW)] as const)) {
      const name = `y${TAG[element]}`;
      this.view(name, element, shape);
      const at = `${name}${indices.map((i) => `[${i}]`).join("")}`;
      const type = valueType(element);
      place.outputs.push({ type, element: at });
      place.sources.push({ type, parts: [at], args: [] });
    }
  }

  /** A view of vectors or the like that is written, and read, at the element's own place. */
  composites(place: Context, shape: readonly number[], indices: readonly string[]): void {
    const make = this.dice.pick(NAMES);
    const { composite } = COMPOSITES[make];
    const name = `c${make}`;
    const whole = [...shape, ...composite.axes];
    if (whole.length > MAX_RANK) return;
    const layout = this.dice.pick(["right", "left", "strided"] as const);
    const token = view(COMPOSITES[make] as typeof COMPOSITES.vec3, shape.length as Rank);
    this.all.set(name, { kind: "view", token, element: composite.element, shape: whole, layout, indices: false });
    listComposite(`${name}${indices.map((i) => `[${i}]`).join("")}`, make, place, true);
  }

  /** Views that take the results of functions that are not exact. */
  inexact(place: Context, shape: readonly number[], indices: readonly string[]): void {
    for (const type of ["f64", "f32"] as const) {
      const name = `${INEXACT}${TAG[type]}`;
      this.view(name, type, shape);
      place.inexact.push({ type, element: `${name}${indices.map((i) => `[${i}]`).join("")}` });
    }
  }

  get hasAtomics(): boolean {
    return ATOMICS.some((name) => this.all.has(name));
  }

  /** Atomic arrays, which the name tells the operation of. */
  atomics(): void {
    for (const name of this.dice.some(ATOMICS)) {
      const element = this.dice.pick(["i32", "u32"] as const);
      const shape = this.dice.chance(50) ? [POOL] : [ROWS, COLUMNS];
      const token = atomic(TOKENS[element] as typeof i32, shape.length as Rank);
      this.all.set(name, {
        kind: "view",
        token,
        element,
        shape,
        layout: this.dice.pick(["right", "left", "strided"] as const),
        indices: false,
      });
    }
  }

  /** Reductions and scatter targets. */
  folds(): void {
    const folded = TOKENS[this.dice.pick(NUMERIC)];
    const tokens = { total: sum(folded), least: min(folded), greatest: max(folded), product: reducer(f64, 1, this.dice.pick(COMBINES)) };
    const placed = TOKENS[this.dice.pick(NUMERIC)];
    const best = this.dice.chance(50) ? argmin(placed) : argmax(placed);
    for (const [name, token] of Object.entries({ ...tokens, best })) this.all.set(name, { kind: "reduce", token });
    const element = this.dice.pick(NUMERIC);
    const op = this.dice.pick(["sum", "min", "max"] as const);
    const target = { kind: "scatter", element, layout: "right", indices: false } as const;
    this.all.set("hist", { ...target, token: scatter(TOKENS[element], 1, op), shape: [POOL] });
    this.all.set("bins", { ...target, token: scatter(TOKENS[element], 2), shape: [ROWS, COLUMNS] });
  }
}

const WEIGHTS = [
  [0.5, -1.25, 3],
  [1e-3, -0, 7.5],
] as const;
const SCALARS: Record<NumberType, readonly number[]> = {
  f64: [0.1, -2.5, 0, -0, NaN, 1e200, -Infinity],
  f32: [0.5, -2.75, 0, -0, 16777216].map(Math.fround),
  i32: [0, 1, -1, 7, 65536, 2147483645, 2147483647, -2147483648],
  u32: [0, 1, 7, 4294967295],
};
const COMBINES: readonly ((a: number, b: number) => number)[] = [
  (a, b) => a * b,
  (a, b) => a + 0.5 * b,
  (a, b) => (b > a ? b : a),
  (a, b) => Math.max(a, b),
];
