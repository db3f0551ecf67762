import type { Expr, KernelIR, Stmt } from "../types.js";
import { blocksOf, children, exprsOf } from "../walk.js";
import { addAffine, affineOf, definitionsOf, equal, isConstant, scaleAffine, type Affine, type Definitions } from "./affine.js";

type Load = Extract<Expr, { op: "load" }>;

/** Loads of one view by the branch they stand in: a number for each side of each choice, 0 outside of all. */
type Branches = Map<string, Map<number, Load[]>>;

/**
 * Whether a view is read under several conditions, and under one of them at places of one group: a few elements at a larger step, as in
 * `x[4 * i]` and `x[4 * i + 1]`. GCC 12 reads such a group by one mask, with AVX2 and with AVX-512, and so takes the condition of one branch for the
 * other's elements.
 */
export function groupsUnderConditions({ body }: KernelIR): boolean {
  const found: Branches = new Map();
  const definitions = definitionsOf(body);
  let branches = 0;
  const note = (load: Load, branch: number): void => {
    const of = found.get(load.view) ?? new Map<number, Load[]>();
    found.set(load.view, of.set(branch, [...(of.get(branch) ?? []), load]));
  };
  const expr = (e: Expr, branch: number): void => {
    if (e.op === "load" && branch > 0) note(e, branch);
    if (e.op !== "select") return children(e).forEach((child) => expr(child, branch));
    expr(e.cond, branch);
    for (const side of [e.a, e.b]) expr(side, ++branches);
  };
  const statements = (list: readonly Stmt[], branch: number): void => {
    for (const stmt of list) {
      for (const e of exprsOf(stmt)) expr(e, branch);
      for (const block of blocksOf(stmt)) statements(block, stmt.kind === "if" ? ++branches : branch);
    }
  };
  statements(body, 0);
  return [...found.values()].some((of) => of.size > 1 && [...of.values()].some((loads) => inGroup(loads, definitions)));
}

/** Two loads at a constant distance that is less than what a step of an index moves them by. */
const inGroup = (loads: readonly Load[], definitions: Definitions): boolean =>
  loads.some((a, n) =>
    loads.slice(0, n).some((b) => {
      const forms = (load: Load) => load.indices.map((index) => affineOf(index, definitions));
      const [own, other] = [forms(a), forms(b)];
      if (!own.every((form, axis) => form && other[axis])) return false;
      const distances = own.map((form, axis): Affine => addAffine(form!, scaleAffine(other[axis]!, -1)));
      const last = distances.at(-1)!;
      if (!isConstant(last) || last.constant === 0 || !distances.slice(0, -1).every((form) => equal(form, { constant: 0, terms: {} })))
        return false;
      return Object.values(own.at(-1)!.terms).some((step) => Math.abs(step) > Math.abs(last.constant));
    }),
  );
