import { isFloat } from "./scalars.js";
import { int } from "./expressions.js";
import type { Expr, KernelIR, PrintedType, Prints, ScalarType, Stmt } from "./types.js";
import { walkStmts } from "./walk.js";

type Print = Extract<Stmt, { kind: "print" }>;

/** Lines that a launch keeps until the host takes them. */
export const PRINT_LIMIT = 8192;

/** The rows in which values of a type stand. */
export const printedType = (type: ScalarType): PrintedType => (isFloat(type) ? type : "i32");

/** The views that take what is printed. */
export const recordViews = ({ count, rows }: Prints): string[] => [count, ...Object.values(rows).flatMap((row) => row?.view ?? [])];

/** Parts of a line's record, element by element: in the row of `view`, `width` elements wide, `value` is at `at`. */
export interface Recorded {
  readonly view: string;
  readonly type: PrintedType;
  readonly width: number;
  readonly at: number;
  readonly value: Expr;
}

/** The record of a line. */
export function recordOf({ prints }: KernelIR, { site, items }: Print): Recorded[] {
  const element = (type: PrintedType, at: number, value: Expr): Recorded => ({ ...prints!.rows[type]!, type, at, value });
  const asWord = (e: Expr): Expr => (printedType(e.type) === e.type ? e : { op: "cast", type: "i32", a: e });
  const values = items.flatMap((item, n) => {
    const held = prints!.sites[site!]![n]!;
    return typeof item === "string" || typeof held === "string" ? [] : [element(printedType(item.type), held.at, asWord(item))];
  });
  return [element("i32", 0, int(site!)), ...values];
}

/** True where some statement prints. */
export function prints(body: readonly Stmt[]): boolean {
  let found = false;
  walkStmts(body, ({ kind }) => (found ||= kind === "print"));
  return found;
}

/** Why a language cannot have a kernel that prints, and what to do. */
export const NO_PRINT = ["its kernels have no way to print", "remove the print, or choose the target c, cuda, hip, opencl or js"] as const;
