/* Results of a loop in C++: each thread holds its part of a result in memory, and a second kernel folds the parts. */

import type { ScalarType } from "../../../ir/types.js";
import type { Left } from "../../analyse/left.js";
import type { ParallelRegion } from "../../analyse/regions.js";
import { eachStatement } from "../../analyse/visit.js";
import { writesOf } from "../../analyse/writes.js";
import type { ReductionOp } from "../../tree/index.js";
import { ident, refuse, CPP_TYPES } from "./expressions.js";

/** One result, as lines of C++. */
interface Result {
  /** Per-thread value: the variable, whose name in memory ends in `_partials_`, and its type. */
  readonly parts: readonly { readonly name: string; readonly type: string }[];
  /** Declares what a thread holds. */
  readonly begin: readonly string[];
  /** Around each element. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Folds the parts of thread `b` into the parts of thread `a`. */
  readonly fold: (a: string, b: string) => readonly string[];
  /** Gives the caller what the first thread's parts are. */
  readonly end: string;
}

const FOLDS: Readonly<
  Record<ReductionOp, { readonly identity: (type: string) => string; readonly fold: (a: string, b: string) => string } | undefined>
> = {
  "+": { identity: () => "0", fold: (a, b) => `${a} + ${b}` },
  "*": { identity: () => "1", fold: (a, b) => `${a} * ${b}` },
  min: { identity: (type) => `f::highest<${type}>()`, fold: (a, b) => `f::min(${a}, ${b})` },
  max: { identity: (type) => `f::lowest<${type}>()`, fold: (a, b) => `f::max(${a}, ${b})` },
  ".and.": undefined,
  ".or.": undefined,
  ".eqv.": undefined,
  ".neqv.": undefined,
  iand: { identity: () => "-1", fold: (a, b) => `${a} & ${b}` },
  ior: { identity: () => "0", fold: (a, b) => `${a} | ${b}` },
  ieor: { identity: () => "0", fold: (a, b) => `${a} ^ ${b}` },
};

/** The flags that tell whether an element has assigned a scalar which comes back, by the scalars' names. */
export const flagsOf = ({ left }: ParallelRegion): ReadonlyMap<string, string> =>
  new Map(left.map(({ name }) => [name, `${ident(name)}_is_set_`]));

/** The result that a parameter takes. @throws Unlowerable if C++ is not written for it */
export function paramResult(region: ParallelRegion, { name, type }: { readonly name: string; readonly type: ScalarType }): Result {
  const left = region.left.find((each) => ident(each.name) === name);
  if (left) return ofLeft(region, left, name, CPP_TYPES[type]);
  const { op } = region.reductions.find((each) => ident(each.name) === name)!;
  const found = FOLDS[op];
  if (!found) return refuse(region, `reduction(${op})`, "reductions of logical values are not supported in C++", "use the target c");
  const partials = `${name}_partials_`;
  return {
    parts: [{ name, type: CPP_TYPES[type] }],
    begin: [`${CPP_TYPES[type]} ${name} = ${found.identity(CPP_TYPES[type])};`],
    before: [],
    after: [],
    fold: (a, b) => [`${partials}[${a}] = ${found.fold(`${partials}[${a}]`, `${partials}[${b}]`)};`],
    // A loop begins with the values that its results have.
    end: `*${name} = ${found.fold(`*${name}`, `f::first(${partials}, stream)`)};`,
  };
}

/** A scalar that iterations leave: the value of one that has assigned it, or of the last one. */
function ofLeft(region: ParallelRegion, { name: variable, by }: Left, name: string, type: string): Result {
  eachStatement(region.body, (s) => {
    if (s.kind === "call" && writesOf(region.scope, [s]).has(variable))
      refuse(s, variable, "a procedure assigns a result of the loop", "assign it in the loop itself");
  });
  const [held, times, isSet] = ["left", "times", "is_set"].map((word) => `${name}_${word}_`);
  const last = by === "last" ? " && n_ == elements_ - 1" : "";
  const part = (of: string, thread: string): string => `${of}_partials_[${thread}]`;
  return {
    parts: [
      { name: held, type },
      { name: times, type: "int" },
    ],
    begin: [`${type} ${name} = 0, ${held} = 0;`, `int ${times} = 0, ${isSet} = 0;`],
    before: [`${isSet} = 0;`],
    after: [`if (${isSet}${last}) ${held} = ${name}, ${times}++;`],
    fold: (a, b) => [`if (${part(times, b)}) ${part(held, a)} = ${part(held, b)};`, `${part(times, a)} += ${part(times, b)};`],
    end: `if (f::first(${times}_partials_, stream)) *${name} = f::first(${held}_partials_, stream);`,
  };
}
