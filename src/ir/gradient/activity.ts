import { unreachable } from "../../base/unreachable.js";
import { printExpr } from "../kernel-text.js";
import { isFloat } from "../scalars.js";
import type { Expr, KernelIR, Location, Stmt } from "../types.js";
import { children, walkExprs, walkStmts } from "../walk.js";
import { isFlat } from "./rules.js";

/** Names of a kernel that depend on what gradients are wanted of. Others are constants to gradients. */
export interface ActiveNames {
  readonly views: ReadonlySet<string>;
  readonly scalars: ReadonlySet<string>;
  /** Private arrays. */
  readonly arrays: ReadonlySet<string>;
  readonly locals: ReadonlySet<string>;
  /** Reductions and scatter targets. */
  readonly targets: ReadonlySet<string>;
}

type Leaf = Extract<Expr, { op: "local" | "param" | "load" | "element" }>;

/** Operations by how derivatives pass through them. Integers and truth values are constants to gradients, and all that is made of them alone. */
const PASSES: Readonly<Record<Expr["op"], "leaf" | "operation" | "constant">> = {
  local: "leaf",
  param: "leaf",
  load: "leaf",
  element: "leaf",
  unary: "operation",
  cast: "operation",
  binary: "operation",
  select: "operation",
  call: "operation",
  const: "constant",
  table: "constant",
  index: "constant",
  teamSize: "constant",
  extent: "constant",
  compare: "constant",
  logical: "constant",
  checked: "constant",
  failed: "constant",
};

/** Whether a derivative passes through the value from one of the leaves that `isActive` says. */
export function passesThrough(expr: Expr, isActive: (leaf: Leaf) => boolean): boolean {
  if (!isFloat(expr.type)) return false;
  const passes = PASSES[expr.op];
  switch (passes) {
    case "leaf":
      return isActive(expr as Leaf);
    case "operation":
      if ((expr.op === "unary" || expr.op === "cast") && isFlat(expr)) return false;
      // The condition of a choice is a truth value.
      return children(expr).some((each) => passesThrough(each, isActive));
    case "constant":
      return false;
    default:
      return unreachable(passes);
  }
}

/** Active names by what the statements pass on: the least set that is closed under them. */
export function activeNamesOf({ body, params }: KernelIR, wrt: readonly string[], viewOf: (name: string) => string): ActiveNames {
  const scalarNames = new Set(params.filter((p) => p.kind === "scalar").map((p) => p.name));
  const found = {
    views: new Set(wrt.filter((name) => !scalarNames.has(name))),
    scalars: new Set(wrt.filter((name) => scalarNames.has(name))),
    arrays: new Set<string>(),
    locals: new Set<string>(),
    targets: new Set<string>(),
  };
  const reaches = (expr: Expr): boolean => passesThrough(expr, (leaf) => hasLeaf(found, leaf, viewOf));
  const sets = Object.values(found);
  const size = (): number => sets.reduce((sum, set) => sum + set.size, 0);
  for (let before = -1; before !== size();) {
    before = size();
    walkStmts(body, (stmt) => {
      for (const [set, name, value] of givenBy(stmt, found)) if (reaches(value)) set.add(name);
    });
  }
  return found;
}

function hasLeaf(found: ActiveNames, leaf: Leaf, viewOf: (name: string) => string): boolean {
  switch (leaf.op) {
    case "local":
      return found.locals.has(leaf.name);
    case "param":
      return found.scalars.has(leaf.name);
    case "load":
      return found.views.has(viewOf(leaf.view));
    case "element":
      return found.arrays.has(leaf.array);
    default:
      return unreachable(leaf);
  }
}

type Given = readonly [set: Set<string>, name: string, value: Expr];

/** Names that a statement gives values to. */
function givenBy(stmt: Stmt, found: { [K in keyof ActiveNames]: Set<string> }): readonly Given[] {
  switch (stmt.kind) {
    case "let":
      return stmt.init ? [[found.locals, stmt.name, stmt.init]] : [];
    case "assign":
      return [[found.locals, stmt.name, stmt.value]];
    case "setElement":
      return [[found.arrays, stmt.array, stmt.value]];
    case "store":
      return [[found.views, stmt.view, stmt.value]];
    case "scatter":
    case "reduce":
      return [[found.targets, stmt.target, stmt.value]];
    case "reduceJointly":
      return stmt.values.map((value, n) => [found.targets, stmt.targets[n]!, value]);
    case "array":
    case "atomic":
    case "print":
    case "if":
    case "for":
    case "while":
    case "break":
    case "continue":
    case "teamFor":
    case "teamReduce":
    case "single":
      return [];
    default:
      return unreachable(stmt);
  }
}

/** Places where gradients end although the value is computed from active ones, a line each. */
export function endsOf({ body }: KernelIR, found: ActiveNames, viewOf: (name: string) => string): string[] {
  const lines = new Set<string>();
  const reaches = (expr: Expr): boolean => passesThrough(expr, (leaf) => hasLeaf(found, leaf, viewOf));
  walkExprs(body, (node, { location }) => {
    if (node.op !== "cast" && node.op !== "unary") return;
    const isEnd = node.op === "cast" ? isFloat(node.a.type) && !isFloat(node.type) : isFlat(node);
    if (isEnd && reaches(node.a)) lines.add(`gradient ends at ${printExpr(node)} (${placeOf(location)})`);
  });
  return [...lines];
}

const placeOf = ({ file, line }: Location): string => `${file}:${line}`;
