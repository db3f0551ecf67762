import type { Column, ColumnType, Table } from "../../../src/io/index.js";

/* Random tables with every type, missing values, lists, and the numbers and texts that formats get wrong. */

/** A generator of numbers from 0 to below 1 (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const FLOATS = [0, -0, NaN, Infinity, -Infinity, 5e-324, 1.7976931348623157e308, 0.1, 1 / 3, 359.99999999999994, -1e-7, 1e21];
const TEXTS = ["a", "x y", "it's", '"', "a,b", "#", "'", "null", "nan", "0", "<&>", "a  b"];
/** Texts that ASCII does not have, or that lines break. */
const MORE_TEXTS = ["é", "π Cen", "日本", "😀", "a\nb"];

export interface Wanted {
  readonly types: readonly ColumnType[];
  readonly lists: boolean;
  readonly ascii: boolean;
}

/** A random table of what a format holds. */
export function randomTable(seed: number, { types, lists, ascii }: Wanted): Table {
  const random = randomNumbers(seed);
  const whole = (n: number) => Math.floor(random() * n);
  const rows = [0, 1, 2, 7, 40][whole(5)];
  const columns = Array.from({ length: 1 + whole(8) }, (_, n): Column => {
    const type = types[whole(types.length)];
    const isList = lists && type !== "text" && random() < 0.3;
    const offsets = isList ? new Float64Array(rows + 1) : undefined;
    if (offsets) for (let row = 0; row < rows; row++) offsets[row + 1] = offsets[row] + whole(4);
    const length = offsets ? offsets[rows] : rows;
    const about = {
      name: ascii ? `c_${n}` : ["é", "ra (deg)", "a,b", "x", '"q"', "col#"][whole(6)] + n,
      type,
      ...(random() < 0.5 ? { unit: ["deg", "mas/yr", "m s-1"][whole(3)] } : {}),
    };
    if (type === "text") {
      const texts = [...TEXTS, ...(ascii ? [] : MORE_TEXTS)];
      return { ...about, values: Array.from({ length }, () => (random() < 0.1 ? "" : texts[whole(texts.length)])) };
    }
    const value = () => {
      const big = BigInt(whole(2 ** 32)) * 2n ** 32n + BigInt(whole(2 ** 32));
      return {
        bool: whole(2),
        u8: whole(256),
        i16: whole(2 ** 16) - 2 ** 15,
        i32: whole(2 ** 32) - 2 ** 31,
        i64: BigInt.asIntN(64, big),
        u64: big,
        f32: FLOATS[whole(FLOATS.length)],
        f64: random() < 0.5 ? FLOATS[whole(FLOATS.length)] : (random() - 0.5) * 10 ** (whole(40) - 20),
      }[type];
    };
    const arrays = {
      bool: Uint8Array,
      u8: Uint8Array,
      i16: Int16Array,
      i32: Int32Array,
      i64: BigInt64Array,
      u64: BigUint64Array,
      f32: Float32Array,
      f64: Float64Array,
    };
    const values = new arrays[type](length);
    const missing = type !== "f32" && type !== "f64" && length > 0 && random() < 0.5 ? new Uint8Array(length) : undefined;
    for (let k = 0; k < length; k++) {
      if (missing) missing[k] = random() < 0.3 ? 1 : 0;
      if (!missing?.[k]) (values as unknown as (number | bigint)[])[k] = value();
    }
    return { ...about, values, ...(offsets ? { offsets } : {}), ...(missing?.includes(1) ? { missing } : {}) };
  });
  return {
    name: "T",
    metadata: { LABEL: 'it\'s / "a" text '.repeat(1 + whole(8)).trim(), EPOCH: 2017.5, COUNT: -3, OK: random() < 0.5 },
    columns,
  };
}

/** What must come back of a table: values as texts, "missing" where they are. */
export function contentOf({ name, columns }: Table): unknown {
  return {
    name,
    columns: columns.map(({ name: column, type, unit, values, offsets, missing }) => ({
      column,
      type,
      unit,
      offsets: offsets && Array.from(offsets),
      values: Array.from(values as ArrayLike<unknown>, (value, n) => (missing?.[n] ? "missing" : Object.is(value, -0) ? "-0" : `${value}`)),
    })),
  };
}
