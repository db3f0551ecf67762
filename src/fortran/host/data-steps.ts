/* Directives of data as steps of a routine's host side. */

import type { Location } from "../../ir/types.js";
import type { UnitScope, Variable } from "../analyse/symbols.js";
import { variableName } from "../analyse/walk.js";
import { Problems } from "../errors.js";
import { lowerValue, type LoweredSequence } from "../lower/kernels.js";
import { Unlowerable } from "../lower/values.js";
import { arraysOf } from "../data/arrays.js";
import { dataItems, dataKind, isCompute, type DataItem } from "../data/items.js";
import type { ActualArgument, Clause, Directed, Expr } from "../tree/index.js";

/** Arrays that a directive enters, leaves or updates. */
export interface DataStep<ArrayActual> {
  readonly kind: "data";
  readonly action: "enter" | "leave" | "update";
  /** By `enter data` and `exit data`. */
  readonly isDynamic: boolean;
  readonly items: readonly { readonly item: DataItem; readonly array: ArrayActual }[];
  readonly condition?: LoweredSequence;
  readonly at: Location;
}

/** Steps before and after the statements that a directive governs; `actual` gives an array as the run finds it, if it can. */
export function dataSteps<ArrayActual>(
  { directive, at }: Directed,
  scope: UnitScope,
  actual: (e: Expr, variable: Variable) => ArrayActual | undefined,
): { readonly before: DataStep<ArrayActual>[]; readonly after: DataStep<ArrayActual>[] } {
  const kind = dataKind(directive) ?? (isCompute(directive) ? "region" : undefined);
  if (kind === undefined || kind === "declare" || kind === "addresses") return { before: [], after: [] };
  // Ports report what they cannot keep; here all memory is one.
  const problems = new Problems();
  const items = dataItems(directive, problems).flatMap((item) =>
    arraysOf(item.object, { scope, problems }).flatMap(({ whole, section, variable }) => {
      const e: Expr = section ? { kind: "apply", base: whole, args: section.map(asRange), at } : whole;
      const array = accepted(() => actual(e, variable));
      return array ? [{ item, array }] : [];
    }),
  );
  if (items.length === 0) return { before: [], after: [] };
  const value = directive.clauses.flatMap((clause) => (clause.kind === "condition" ? [clause.value] : []));
  const lowered = value.length > 0 ? accepted(() => lowerValue(scope, value[0], "bool")) : undefined;
  const condition = lowered && { condition: lowered };
  const step = (action: DataStep<ArrayActual>["action"], isDynamic: boolean): DataStep<ArrayActual> => ({
    kind: "data",
    action,
    isDynamic,
    items,
    ...condition,
    at,
  });
  if (kind === "update") return { before: [step("update", false)], after: [] };
  if (kind === "enter" || kind === "exit") return { before: [step(kind === "enter" ? "enter" : "leave", true)], after: [] };
  return { before: [step("enter", false)], after: [step("leave", false)] };
}

/** One index as a section: an element by itself stands for all that follow it. */
const asRange = (arg: ActualArgument): ActualArgument =>
  arg.kind === "value" ? { kind: "section", lower: arg.value, upper: arg.value } : arg;

/** Undefined for what no kernel can express: no data has to be moved here. */
function accepted<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof Unlowerable)) throw error;
    return undefined;
  }
}

/** Clauses of data by the names of their arrays. */
export const itemsByName = (of: { readonly clauses: readonly Clause[] }): Map<string, DataItem> =>
  new Map(dataItems(of, new Problems()).map((item) => [variableName(item.object), item]));
