import { IRError } from "../../base/errors.js";
import { binary, int } from "../../ir/expressions.js";
import { teamOfThreads } from "./block-threads.js";
import { BYTES } from "../../ir/scalars.js";
import type { Expr, Stmt } from "../../ir/types.js";
import { find, type Variable } from "../analyse/symbols.js";
import { blockName, SHARED_BYTES, sizeName, threadName } from "../analyse/thread-index.js";
import { constantLength, declaredShape, place, privateArray, rowArray, type ArrayValue, type ArrayElement } from "./arrays.js";
import { plus, productExpr } from "./constants.js";
import { declaring, value } from "./expressions.js";
import type { ProcedureFrame, FortranLowering, Meaning } from "./lowering.js";
import { memoryType, ONE, Unlowerable } from "./values.js";

/* Kernels of CUDA Fortran whose threads share memory: each block of a launch is a team. */

const AXES = ["x", "y", "z"];

/** Thread and block indices of a block's threads; `team` makes the team's body from the statements of one thread. */
export function blockIndices(cx: FortranLowering, frame: ProcedureFrame): { declare(): void; team(thread: readonly Stmt[]): Stmt[] } {
  const { scope } = frame;
  const given = (name: string): Expr => {
    const meaning = cx.given(scope, find(scope, name)!, name);
    if (meaning.kind !== "value") throw new Error(`${name} is not a number`);
    return meaning.expr;
  };
  const [grid, sizes] = ["grid", "block"].map((of) => AXES.map((axis) => given(sizeName(of as "grid" | "block", axis))));
  const threads = sizes.reduce(productExpr);
  const thread = cx.unique("thread");
  const axesOf = new WeakMap<Expr, readonly Expr[]>();
  const shared = [...scope.variables.values()].filter(({ attributes }) => attributes.has("shared"));
  return {
    declare() {
      const along = (number: Expr, extents: readonly Expr[], nameOf: (axis: string) => string): void => {
        let rest = number;
        AXES.forEach((axis, n) => {
          const at = n === 2 ? rest : binary("rem", rest, extents[n]);
          if (n < 2) rest = binary("div", rest, extents[n]);
          frame.meanings.set(nameOf(axis), { kind: "value", expr: cx.kept(nameOf(axis), plus(at, ONE)) });
        });
      };
      along({ op: "local", type: "i32", name: thread }, sizes, threadName);
      along({ op: "index", type: "i32", axis: 0 }, grid, blockName);
      const open = shared.filter(({ dims }) => dims?.some(({ upper }) => upper === "*"));
      if (open.length > 1)
        throw new Unlowerable(open[1].at, `shared :: ${open[1].name}`, `it uses the same memory as ${open[0].name}`, "declare its size");
      for (const variable of shared)
        frame.meanings.set(
          variable.name,
          sharedArray(cx, frame, variable, axesOf, () => given(SHARED_BYTES)),
        );
    },
    team(stmts) {
      try {
        const made = teamOfThreads({
          body: stmts,
          threads,
          thread,
          rows: cx.shared,
          axesOf: (index) => axesOf.get(index) ?? [index],
          reductions: cx.params.filter((param) => param.kind === "reduce"),
          unique: (wish) => cx.unique(wish),
        });
        cx.params.push(...made.params);
        return made.body;
      } catch (error) {
        if (!(error instanceof IRError) || !error.location) throw error;
        throw new Unlowerable(
          error.location,
          "syncthreads",
          error.problem,
          "call syncthreads in between, in loops that all threads of a block run equally often",
        );
      }
    },
  };
}

/** An array of the block: of constant size close to its threads, else in rows that a launch allocates. */
function sharedArray(
  cx: FortranLowering,
  frame: ProcedureFrame,
  variable: Variable,
  axesOf: WeakMap<Expr, readonly Expr[]>,
  bytes: () => Expr,
): Meaning {
  const { name, type, dims, at, refused } = variable;
  if (refused && !refused.construct.startsWith("shared")) throw new Unlowerable(at, refused.construct, refused.why, refused.remedy);
  if (!dims)
    throw new Unlowerable(at, `shared :: ${name}`, "a shared scalar is not supported", `declare an array of one element: ${name}(1)`);
  if (variable.attributes.has("volatile"))
    throw new Unlowerable(at, `volatile :: ${name}`, "threads of a warp do not run in lockstep here", "call syncthreads between the steps");
  const element = memoryType(type);
  const shape = declaredShape(dims, (bound) => value(cx, declaring({ scope: frame.scope }), bound));
  const size = int(BYTES[element]);
  const extents = shape.map(({ extent }, axis) => {
    if (extent) return extent;
    const before = shape.slice(0, axis).flatMap((each) => (each.extent ? [each.extent] : []));
    return binary("div", bytes(), before.reduce(productExpr, size));
  });
  const withAxes = (array: ArrayValue): Meaning => {
    const at = (indices: readonly Expr[]): ArrayElement => {
      const nth = place({ extents }, indices);
      axesOf.set(nth, indices);
      return array.nth(nth);
    };
    return { kind: "array", array: { ...array, at } };
  };
  const lowers = shape.map(({ lower }) => lower);
  const length = constantLength(extents);
  const own = cx.unique(name);
  if (length !== undefined) {
    cx.shared.add(own);
    const ref = { name: own, type: element, length: Math.max(length, 1) };
    cx.push({ kind: "array", ...ref, space: "scratch", location: at });
    return withAxes(privateArray(ref, type, { lowers, extents }));
  }
  const param = { kind: "view", name: own, element, rank: 2, disjoint: true, teamLength: extents.reduce(productExpr) } as const;
  cx.params.push(param);
  cx.shared.add(own);
  return withAxes(rowArray(param, type, { lowers, extents }, [1]));
}
