import type { ScalarType } from "../../../ir/scalars.js";
import type { Type } from "../../../schedule/nodes.js";
import { Precedence, type Text } from "../operators.js";
import type { GpuDialect } from "./dialect.js";

/** Methods of a dialect that spell places. */
export const PLACES = { thread: "thread", block: "block", threads: "threads", blocks: "blocks" } as const;

export const isScalar = (type: Type): type is ScalarType => type !== "int" && type !== "index" && type !== "long";

/** The type of the kernel's IR that a value has in expressions of its operators. */
export const scalar = (type: Type): ScalarType => (isScalar(type) ? type : "i32");

/** A whole number of a schedule's own. C reads the least of 32 bits as the negative of one that has 64. */
export const shortText = (value: number): Text =>
  value === -2147483648 ? ["-2147483647 - 1", Precedence.Sum] : [String(value), value < 0 ? Precedence.Prefix : Precedence.Term];

/** How a type is spelled. */
export const typeText = (type: Type, dialect: Pick<GpuDialect, "types" | "i64">): string =>
  type === "int" ? dialect.types.i32 : type === "long" ? dialect.i64 : dialect.types[type];
