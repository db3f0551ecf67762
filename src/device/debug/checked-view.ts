import type { ViewToken } from "../../kernel/declare/params.js";
import { componentPlace, componentsOfValue, compositePlace, type CompositeType } from "../../kernel/declare/composite.js";
import { METHODS, type ScatterToken } from "../../kernel/declare/params.js";
import { codingOf, ELEMENTS, isWide, valueType, type NumberElement, type NumberType, type WideType } from "../../ir/scalars.js";
import type { ElementMeaning } from "../../kernel/declare/storage.js";
import type { ElementType, NumericType } from "../../ir/types.js";
import { belowOf } from "../cpu/host-view.js";
import { foldOf } from "../cpu/partials.js";
import { BlockedView, storageOf, type AnyView } from "../memory/blocked-view.js";
import { BYTES, typedArray, type TypedArray } from "../memory/view.js";
import type { CopyArena } from "./arena.js";
import { Shadow } from "./shadow.js";
import type { Watch } from "./watch.js";

/** Arrays as a kernel's function sees them: nested, as `a[i][j]`. */
export type CheckedArray = { readonly length: number; [index: number]: unknown; readonly [PEEK]?: (index: number) => number };

/** Asks an array for an element without a note that it is read. */
export const PEEK: unique symbol = Symbol("peek");

/** How one array answers; `indices` are inside the extents. */
interface Cells {
  name: string;
  shape: readonly number[];
  /** The type of values whose components lie along the last axes. */
  of?: CompositeType;
  get(indices: readonly number[]): number;
  /** The same, without a note that it is read. */
  peek?(indices: readonly number[]): number;
  set?(indices: readonly number[], value: unknown): void;
}

/** An array whose indices are checked: whole numbers inside the extents, as many as there are axes. */
function nest(cells: Cells, watch: Watch, prefix: readonly number[] = []): CheckedArray {
  const axis = prefix.length;
  const last = axis === cells.shape.length - 1;
  const checked = (key: string): number[] => {
    const index = Number(key);
    const extent = cells.shape[axis];
    if (!Number.isFinite(index) && String(index) === key)
      watch.fail(`the index of axis ${axis} of "${cells.name}" is ${key}: ${causeOf(index)}`, DIVISION);
    if (!Number.isInteger(index)) watch.fail(`the index ${key} of axis ${axis} of "${cells.name}" is not a whole number`);
    if (index < 0 || index >= extent) watch.fail(`index ${index} is outside axis ${axis} of "${cells.name}", which has extent ${extent}`);
    return [...prefix, index];
  };
  const { of } = cells;
  const isValue = of !== undefined && axis === cells.shape.length - 1 - of.axes.length;
  const at = (indices: readonly number[]): unknown => {
    if (last) return cells.get(indices);
    if (!isValue) return nest(cells, watch, indices);
    const component = (n: number): number[] => [...indices, ...componentPlace(of, n)];
    // The value as it is now; a component that is not looked at counts as not read.
    const now = of.fields.map((_, n) => cells.peek!(component(n)));
    return compositePlace(
      of,
      (n) => {
        cells.get(component(n));
        return now[n];
      },
      (n, value) => cells.set!(component(n), value),
    );
  };
  function* entries(): Generator<[number, unknown]> {
    for (let k = 0; k < cells.shape[axis]; k++) yield [k, at([...prefix, k])];
  }
  function* elements(): Generator {
    for (const [, element] of entries()) yield element;
  }
  return new Proxy({} as CheckedArray, {
    get(_, key) {
      if (key === Symbol.iterator) return elements;
      if (key === PEEK) return (index: number) => cells.peek!(checked(String(index)));
      if (typeof key === "symbol") return undefined;
      if (key === "length") return cells.shape[axis];
      return key === "entries" ? entries : at(checked(key));
    },
    set(_, key, value) {
      if (typeof key === "symbol") return false;
      const indices = checked(key);
      if (isValue) {
        // All components are read before the first is written.
        const parts = of.fields.map((field) => (value as Record<string, unknown>)[field]);
        parts.forEach((part, n) => cells.set!([...indices, ...componentPlace(of, n)], part));
        return true;
      }
      if (!last) watch.fail(`"${cells.name}" has ${cells.shape.length} axes, and is assigned with ${axis + 1} indices`);
      if (!cells.set) watch.fail(`"${cells.name}" is constant, and is assigned`);
      cells.set!(indices, value);
      return true;
    },
  });
}

/** A view of the arena, with bounds, races and stored values checked. */
export function checkedView(
  name: string,
  view: AnyView,
  { disjoint, of, meaning }: Pick<ViewToken, "disjoint" | "of" | "meaning">,
  arena: CopyArena,
  watch: Watch,
): CheckedArray {
  const array = arena.array(storageOf(view));
  const { piece, address } = arena.locate(storageOf(view));
  const { granule } = arena.pieces[piece];
  const at = offsetIn(view);
  const elementAt = (offset: number): number => Math.floor((address + offset * BYTES[view.type]) / granule);
  const what = (indices: readonly number[]) => () => `${name}${indices.map((i) => `[${i}]`).join("")}`;
  const value = meantValue(view.type, meaning);
  return nest(
    {
      name,
      shape: view.shape,
      of,
      peek: (indices) => value(array[at(indices)]),
      get(indices) {
        const offset = at(indices);
        watch.read(piece, elementAt(offset), what(indices));
        return value(array[offset]);
      },
      set(indices, given) {
        const offset = at(indices);
        const remedy = disjoint ? `${name} was declared disjoint: no two elements may write one place` : undefined;
        watch.write(piece, elementAt(offset), what(indices), remedy);
        array[offset] = heldNumber(given, view.type, meaning, what(indices), watch);
      },
    },
    watch,
  );
}

/** A function that gives the value of what lies in memory, as the body sees it. */
function meantValue(type: ElementType, meaning: ElementMeaning | undefined): (held: number) => number {
  const coding = codingOf(type);
  const plain = coding ? coding.valueOf : (held: number): number => held;
  if (meaning === "truth") return (held) => (held !== 0) as unknown as number;
  return meaning ? (held) => plain(held) * meaning.scale : plain;
}

/** Converts a value of the body to what memory holds. */
function heldNumber(given: unknown, type: ElementType, meaning: ElementMeaning | undefined, what: () => string, watch: Watch): number {
  if (meaning === "truth") return given ? 1 : 0;
  const coding = codingOf(type);
  if (!meaning && !coding) return fittingNumber(given, type, what, watch);
  if (typeof given !== "number") return watch.fail(`${what()} is given ${String(given)}, which is not a number`);
  const scaled = Math.fround(Math.fround(given) / (meaning?.scale ?? 1));
  if (!coding) return clamped(scaled, type);
  const bits = coding.bitsOf(scaled);
  if (Number.isFinite(given) && !Number.isFinite(coding.valueOf(bits)))
    watch.fail(`${what()} is ${type} and is given ${given}, which it holds as ${coding.valueOf(bits)}`, TOO_LARGE);
  return bits;
}

const TOO_LARGE = "give stored(...) a scale, or store bf16 or f32";

/** The nearest whole number that the type holds, of two the even one; 0 for NaN. */
function clamped(value: number, type: ElementType): number {
  const { least, greatest } = ELEMENTS[type as NumberElement];
  if (Number.isNaN(value)) return 0;
  const inside = Math.min(Math.max(value, least), greatest);
  const nearest = Math.round(inside);
  return nearest - inside === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest;
}

/** Finds an element, counted from the lowest one of the view. */
export function offsetIn(view: AnyView): (indices: readonly number[]) => number {
  const { strides } = storageOf(view);
  const first = belowOf(storageOf(view));
  const elementAt = (indices: readonly number[]): number => indices.reduce((offset, index, axis) => offset + index * strides[axis], first);
  if (!(view instanceof BlockedView)) return elementAt;
  const { block } = view;
  return ([index, ...rest]) => elementAt([Math.floor(index / block), ...rest, index % block]);
}

/** How an integer comes to be infinite or NaN in plain JavaScript. */
const causeOf = (value: number): string => `an integer is divided by zero${Number.isNaN(value) ? ", or a local has no value yet" : ""}`;
const DIVISION = "dividing by zero gives 0 on the other devices; write (a / b) | 0 or (a % b) | 0 if you mean that";

/** The value, where an array of the type can hold it. */
export function fittingNumber(value: unknown, type: ElementType, what: () => string, watch: Watch): number {
  if (isWide(type)) return fittingBigint(value, type, what, watch) as unknown as number;
  if (typeof value !== "number" && typeof value !== "boolean")
    return watch.fail(`${what()} is given ${String(value)}, which is not a number`);
  const number = Number(value);
  const { kind, least, greatest } = ELEMENTS[valueType(type) as NumberType];
  if (kind === "float") return number;
  if (!Number.isFinite(number)) watch.fail(`${what()} is ${type} and is given ${number}: ${causeOf(number)}`, DIVISION);
  if (!Number.isInteger(number) || number < least || number > greatest)
    watch.fail(
      `${what()} is ${type} and is given ${number}: integer overflow`,
      "the other devices wrap; write (...) | 0 or (...) >>> 0 if you mean that",
    );
  return number;
}

function fittingBigint(value: unknown, type: WideType, what: () => string, watch: Watch): bigint {
  const { least, greatest } = ELEMENTS[type];
  if (typeof value !== "bigint")
    return watch.fail(`${what()} is ${type} and is given ${String(value)}, which is not a bigint`, "write BigInt(...)");
  if (value < least || value > greatest)
    watch.fail(
      `${what()} is ${type} and is given ${value}n: integer overflow`,
      "the other devices wrap; write BigInt.asIntN(64, ...) or BigInt.asUintN(64, ...) if you mean that",
    );
  return value;
}

/** A table of constants. */
export function checkedTable(name: string, values: unknown, watch: Watch): CheckedArray {
  const shape: number[] = [];
  for (let level = values; Array.isArray(level); level = level[0]) shape.push(level.length);
  return nest(
    { name, shape, get: (indices) => indices.reduce<unknown>((level, index) => (level as unknown[])[index], values) as number },
    watch,
  );
}

/** Memory of a team, undefined until it is written. */
export function checkedScratch(type: NumericType, length: number, watch: Watch): CheckedArray {
  const array = typedArray(type, length) as TypedArray;
  const written = new Uint8Array(length);
  const shadows = { members: new Shadow(length), lanes: new Shadow(length) };
  return nest(
    {
      name: "scratch",
      shape: [length],
      get([index]) {
        watch.inTeam("read", shadows, index, () => `scratch[${index}]`);
        if (!written[index]) watch.fail(`scratch[${index}] is read before it is written`, "scratch memory is undefined at first");
        return array[index];
      },
      set([index], value) {
        watch.inTeam("write", shadows, index, () => `scratch[${index}]`);
        array[index] = fittingNumber(value, type, () => `scratch[${index}]`, watch);
        written[index] = 1;
      },
    },
    watch,
  );
}

/** Throws KernelError for indices that are not of the array. */
export function requireInside(
  name: string,
  { shape }: { readonly shape: readonly number[] },
  indices: readonly number[],
  watch: Watch,
): void {
  indices.forEach((index, axis) => {
    if (!Number.isInteger(index) || index < 0 || index >= shape[axis])
      watch.fail(`index ${index} is outside axis ${axis} of "${name}", which has extent ${shape[axis]}`);
  });
}

/** A scatter target: the object with `add`, `min` or `max` that the function sees. */
export function checkedScatter(
  name: string,
  { op, of }: Pick<ScatterToken, "op" | "of">,
  view: AnyView,
  arena: CopyArena,
  watch: Watch,
): object {
  const array = arena.array(storageOf(view));
  const at = offsetIn(view);
  const fold = foldOf(op, view.type as NumericType);
  const rank = view.rank - (of?.axes.length ?? 0);
  const method = (...args: unknown[]): void => {
    const indices = args.slice(0, -1) as number[];
    if (indices.length !== rank) watch.fail(`"${name}" has ${rank} axes, and is given ${indices.length} indices`);
    requireInside(name, view, indices, watch);
    const value = args[args.length - 1];
    const values = of ? componentsOfValue(of, value, `${name} folds`) : [value as number];
    values.forEach((part, n) => {
      const offset = at(of ? [...indices, ...componentPlace(of, n)] : indices);
      array[offset] = fold(array[offset], part) as number;
    });
  };
  return { [METHODS[op]]: method };
}
