import { BYTES, ELEMENTS, isFloat, wrap, type FloatType } from "../../ir/scalars.js";
import type { NumericType, Table } from "../../ir/types.js";
import type { Names } from "../../base/names.js";
import type { Code } from "./code.js";
import type { Dialect, TableBits } from "./dialect.js";

/* Constant tables at file scope. */

/** Bit patterns that a table keeps in place of its values; undefined where it needs none. */
export function bitsOf({ type, values }: Table, { tableBits }: Dialect): TableBits | undefined {
  return isFloat(type) && !values.every((v) => Number.isFinite(wrap(type, Number(v)))) ? tableBits?.[type] : undefined;
}

/** The bits of a float as an integer literal without an ending. */
function wordOf(type: FloatType, v: number): string {
  const data = new DataView(new ArrayBuffer(8));
  data[ELEMENTS[type].set](8 - BYTES[type], v);
  return `0x${data.getBigUint64(0).toString(16)}`;
}

/** A constant table at file scope. */
export function writeTable(
  code: Code,
  table: Table,
  dialect: Dialect,
  names: Names,
  literal: (type: NumericType, value: number | bigint) => string,
): void {
  const [first, ...rest] = table.shape;
  const size = rest.reduce((a, b) => a * b, 1);
  const bits = bitsOf(table, dialect);
  const element = (v: number | bigint) => (bits ? wordOf(table.type as FloatType, Number(v)) + bits.suffix : literal(table.type, v));
  const nest = (shape: readonly number[], from: number): string => {
    if (shape.length === 0) return element(table.values[from]);
    const stride = shape.slice(1).reduce((a, b) => a * b, 1);
    return `{${Array.from({ length: shape[0] }, (_, i) => nest(shape.slice(1), from + i * stride)).join(", ")}}`;
  };
  const head = `${dialect.tablePrefix} ${bits?.type ?? dialect.types[table.type]} ${names.of("table", table.name)}${table.shape.map((n) => `[${n}]`).join("")}`;
  if (rest.length === 0) code.line(`${head} = ${nest(table.shape, 0)};`);
  else
    code.block(
      `${head} =`,
      () => {
        for (let i = 0; i < first; i++) code.line(`${nest(rest, i * size)},`);
      },
      ";",
    );
}
