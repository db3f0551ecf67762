import type { TypedArray } from "../../../src/device/memory/view.js";

/*
 * The reference for containers: the function itself, called as the plain TypeScript that it is, for one cell after the other. It agrees
 * with what is compiled where the function says all its roundings, as it does in f64.
 */

/** A field's values in the order (z, y, x, k). */
export interface PlainField {
  readonly extents: readonly number[];
  readonly data: TypedArray;
  readonly cardinality: number;
  readonly fillValue: number;
  /** By axis: whether it is periodic; none where absent. */
  readonly periodic?: readonly boolean[];
  /** Bytes in the order (z, y, x); all cells where absent. */
  readonly active?: Uint8Array;
}

/** Calls the body for the active cells from `begin` to `end` (exclusive) along x, y and z; `params` are what it is given, but `PlainField`s. */
export function callPlainly(
  body: (...args: never[]) => void,
  params: Readonly<Record<string, unknown>>,
  begin: readonly number[],
  end: readonly number[],
  active: (cell: readonly number[]) => boolean = () => true,
): void {
  const at: { cell: readonly number[] } = { cell: begin };
  const seen = Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, isField(value) ? access(value, () => at.cell) : value]),
  );
  const [width, height, depth] = end.map((e, n) => e - begin[n]);
  for (let n = 0; n < width * height * (depth ?? 1); n++) {
    const local = [n % width, Math.floor(n / width) % height, Math.floor(n / (width * height))].slice(0, begin.length);
    at.cell = local.map((d, axis) => begin[axis] + d);
    if (active(at.cell)) (body as (...args: unknown[]) => void)(seen, cellAt(at.cell));
  }
}

const isField = (value: unknown): value is PlainField => typeof value === "object" && value !== null && "fillValue" in value;

const OWN = Symbol("cell");

/** Where it stands for a key, it is a symbol. */
const cellAt = ([x, y, z]: readonly number[]): object => ({ x, y, z, [Symbol.toPrimitive]: () => OWN });

function access(field: PlainField, cell: () => readonly number[]): unknown {
  const { extents, data, cardinality, fillValue } = field;
  const place = (beyond: readonly number[]): number | undefined => {
    const to = beyond.map((d, n) => (field.periodic?.[n] ? (d + 2 * extents[n]) % extents[n] : d));
    if (to.some((d, n) => d < 0 || d >= extents[n])) return undefined;
    const position = to.reduceRight((p, d, n) => p * extents[n] + d, 0);
    return field.active && !field.active[position] ? undefined : position * cardinality;
  };
  const components = (position: number | undefined): unknown =>
    new Proxy(
      {},
      {
        get: (_, k) => (k === "length" ? cardinality : position === undefined ? fillValue : data[position + Number(k)]),
        set: (_, k, value) => {
          data[position! + Number(k)] = value as number;
          return true;
        },
      },
    );
  const valueAt = (to: readonly number[]): unknown => {
    const position = place(to);
    if (cardinality > 1) return components(position);
    return position === undefined ? fillValue : data[position];
  };
  const shifted = (offset: readonly number[], scale: (d: number) => number = (d) => d): readonly number[] =>
    cell().map((d, n) => scale(d) + (offset[n] ?? 0));
  const methods: Record<string, unknown> = {
    at: (_: unknown, ...offset: number[]) => valueAt(shifted(offset)),
    fine: (_: unknown, ...offset: number[]) => valueAt(shifted(offset, (d) => 2 * d)),
    coarse: (_: unknown, ...offset: number[]) => valueAt(shifted(offset, (d) => d >> 1)),
    isActive: (_: unknown, ...offset: number[]) => place(shifted(offset)) !== undefined,
  };
  return new Proxy(
    {},
    {
      get: (_, key) => (key === OWN ? valueAt(cell()) : methods[key as string]),
      set: (_, __, value) => {
        data[place(cell())!] = value as number;
        return true;
      },
    },
  );
}
