import { unreachable } from "../../base/unreachable.js";
import type { Binding } from "../launch/binding.js";
import type { AnyView } from "../memory/blocked-view.js";
import { foldOfParam } from "../cpu/partials.js";
import type { ReduceParam } from "../../ir/types.js";
import { componentsOfValue, compositeOf, compositeValue } from "../../kernel/declare/composite.js";
import {
  METHODS,
  type CompositeReduceToken,
  type ExtremumToken,
  type ListToken,
  type StructReduceToken,
  type ViewToken,
} from "../../kernel/declare/params.js";
import { listTypeName, namedParts, recordOfNumbers } from "../../kernel/declare/flat.js";
import { plainRecord, structOf, type StructType } from "../../kernel/declare/struct.js";
import { checkedRecords } from "./checked-records.js";
import type { CopyArena } from "./arena.js";
import { checkedAtomic } from "./checked-atomic.js";
import { checkedScatter, checkedTable, checkedView, type CheckedArray } from "./checked-view.js";
import { WatchedTeam } from "./team.js";
import { Watch } from "./watch.js";

/**
 * Calls the kernel's own function for each element, in order, over checked arrays of the arena, so that breakpoints and console.log
 * work. Throws KernelError for an index out of bounds, an integer that does not fit, undefined scratch, or a race.
 */
export function callKernel(binding: Binding, args: Record<string, unknown>, arena: CopyArena): void {
  const { kernel, policy } = binding;
  const watch = new Watch(kernel, arena.pieces);
  const params = parametersOf(binding, args, arena, watch);
  const body = reported(kernel.body as (params: unknown, ...rest: unknown[]) => void, watch);
  if (policy.kind === "team") {
    watch.describe = (team) => `team ${team}`;
    for (watch.element = 0; watch.element < policy.league; watch.element++) body(params, new WatchedTeam(watch.element, watch));
    return;
  }
  const { extents, begin } = policy;
  const indicesOf = (element: number): number[] => {
    const indices: number[] = [];
    for (let axis = extents.length - 1, rest = element; axis >= 0; rest = Math.floor(rest / extents[axis--]))
      indices.unshift(begin[axis] + (rest % extents[axis]));
    return indices;
  };
  watch.describe = (element) => `element [${indicesOf(element).join(", ")}]`;
  const count = extents.reduce((a, b) => a * b, 1);
  for (watch.element = 0; watch.element < count; watch.element++) body(params, ...indicesOf(watch.element));
}

/** The function, whose bigints report what JavaScript throws for. */
function reported(body: (params: unknown, ...rest: unknown[]) => void, watch: Watch): typeof body {
  return (...args) => {
    try {
      body(...args);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      if (error.message === "Division by zero")
        watch.fail(
          "a bigint is divided by zero",
          "dividing by 0n gives 0n on the other devices, and JavaScript throws: write b === 0n ? 0n : a / b",
        );
      if (/BigInt/.test(error.message)) watch.fail(error.message, "the other devices take the whole part: write BigInt(Math.trunc(x))");
      throw error;
    }
  };
}

/** The method of a fold of numbers. */
function numberFold(param: ReduceParam): Record<string, unknown> {
  const fold = foldOfParam(param);
  let total = param.identity;
  return { [METHODS[param.op]]: (value: number | bigint) => (total = fold(total, value)) };
}

/** The method of a fold of several numbers: compiled code, which runs after the function, has the results. */
function checkedFold(name: string, token: CompositeReduceToken | ExtremumToken | StructReduceToken): Record<string, unknown> {
  switch (token.kind) {
    case "extremum":
      return { [token.op]: () => undefined };
    case "reduceStruct":
      return { merge: (value: unknown) => void plainRecord(token.struct, value) };
    case "reduceComposite":
      return { [METHODS[token.op]]: (value: unknown) => void componentsOfValue(token.of, value, `${name} folds`) };
    default:
      return unreachable(token);
  }
}

/** A list, which compiled code fills. */
function checkedList(name: string, { of, most }: ListToken, watch: Watch): { push(value: unknown): void } {
  let pushes = 0;
  let element = -1;
  return {
    push(value) {
      if (watch.element !== element) pushes = 0;
      element = watch.element;
      if (++pushes > most)
        watch.fail(
          `an element appends to ${name} more than ${most === 1 ? "once" : `${most} times`}; declare list(${listTypeName(of)}, ${pushes}) or more`,
        );
      const [composite, struct] = [compositeOf(of), structOf(of)];
      if (composite) componentsOfValue(composite, value, `${name} takes`);
      else if (struct) plainRecord(struct, value);
    },
  };
}

/** The first argument of the function. */
function parametersOf(
  { kernel: flat, ir, scalars }: Binding,
  args: Record<string, unknown>,
  arena: CopyArena,
  watch: Watch,
): Record<string, unknown> {
  const kernel = flat.written ?? flat;
  const parts = namedParts(kernel.params);
  const next = (name: string): (() => number) => {
    const left = parts.get(name)!.values();
    return () => scalars[left.next().value!.name] as number;
  };
  const one = (name: string): unknown => {
    const token = kernel.params[name];
    const of = compositeOf(token);
    if (of) return compositeValue(of, of.fields.map(next(name)));
    const struct = structOf(token);
    if (struct) return recordOfNumbers(struct, next(name));
    if (typeof token !== "object") return token;
    if (token.kind === "list") return checkedList(name, token, watch);
    switch (token.kind) {
      case "scalar":
        return scalars[name];
      case "fixed":
        return args[name];
      case "view":
        return "atomic" in token
          ? checkedAtomic(name, args[name] as AnyView, arena, watch)
          : checkedView(name, args[name] as AnyView, token, arena, watch);
      case "scatter":
        return checkedScatter(name, token, args[name] as AnyView, arena, watch);
      case "table":
        return checkedTable(name, token.values, watch);
      case "reduce":
        return numberFold(ir.params.find((p): p is ReduceParam => p.kind === "reduce" && p.name === name)!);
      case "extremum":
      case "reduceStruct":
      case "reduceComposite":
        return checkedFold(name, token);
      case "reduceEach":
        // Compiled code, which runs after the function, checks components and has the results.
        return { [METHODS[token.op]]: () => undefined };
      case "structView": {
        const left = parts.get(name)!.values();
        const arrays = (of: StructType): CheckedArray =>
          checkedRecords(of, Object.fromEntries(Object.entries(of.fields).map(([field, type]) => [field, arrayOf(type)])), token.rank);
        const arrayOf = (type: StructType["fields"][string]): CheckedArray => {
          const inner = structOf(type);
          if (inner) return arrays(inner);
          const part = left.next().value!;
          return checkedView(part.name, args[part.name] as AnyView, part.token as ViewToken, arena, watch);
        };
        return arrays(token.struct);
      }
      default:
        return unreachable(token);
    }
  };
  return Object.fromEntries(Object.keys(kernel.params).map((name) => [name, one(name)]));
}
