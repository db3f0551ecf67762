import { jsonText } from "../../base/json.js";
import { typedValue } from "../../ir/scalars.js";
import type { Table } from "../../ir/types.js";
import type { Nested, TableToken } from "../declare/params.js";

/** A declared table with its values in one row; undefined if it is not a full array of rank 1 to 4. */
export function tableOf(name: string, { type, values }: TableToken): Table | undefined {
  const flat = flatten(values);
  if (!flat || flat.shape.length < 1 || flat.shape.length > 4) return undefined;
  return { name, type, shape: flat.shape, values: flat.values.map((value) => typedValue(type, value)) };
}

function flatten(values: Nested): { shape: number[]; values: (number | bigint)[] } | undefined {
  if (typeof values === "number" || typeof values === "bigint") return { shape: [], values: [values] };
  const parts = values.map(flatten);
  const first = parts[0];
  if (!first || parts.some((p) => !p || p.shape.join() !== first.shape.join())) return undefined;
  return { shape: [values.length, ...first.shape], values: parts.flatMap((p) => p!.values) };
}

/** Describes a value that stands where a parameter is declared. */
export const tokenText = (token: unknown): string =>
  token === undefined ? "undefined" : token === null ? "null" : typeof token === "object" ? jsonText(token) : String(token);
