import { unreachable } from "../../base/unreachable.js";
import type { Expr, KernelIR, Stmt } from "../types.js";
import { declares, mapExpr, mapStmts, walkStmts } from "../walk.js";

/** Makes names that are not yet taken in a kernel. */
export class FreshNames {
  private readonly taken = new Set<string>();
  /** The last number given to a wish. */
  private readonly numbers = new Map<string, number>();

  constructor(ir: KernelIR) {
    for (const { name } of [...ir.params, ...ir.tables]) this.taken.add(name);
    walkStmts(ir.body, (stmt) => declares(stmt).forEach((name) => this.taken.add(name)));
  }

  /** The wished name, with a number after it where it is taken. */
  fresh(wish: string): string {
    let name = wish;
    let n = this.numbers.get(wish) ?? 0;
    while (this.taken.has(name)) name = `${wish}_${++n}`;
    this.numbers.set(wish, n);
    this.taken.add(name);
    return name;
  }
}

/** The statements once more, to stand beside the others: what they declare has new names with `suffix`, and `replace` changes nodes. */
export function copyBody(body: readonly Stmt[], suffix: string, names: FreshNames, replace: (node: Expr) => Expr): Stmt[] {
  const renamed = new Map<string, string>();
  walkStmts(body, (stmt) => declares(stmt).forEach((name) => renamed.set(name, names.fresh(`${name}_${suffix}`))));
  const name = (old: string) => renamed.get(old) ?? old;
  const expr = (root: Expr) =>
    mapExpr(root, (node) => {
      if (node.op === "local" && renamed.has(node.name)) return { ...node, name: name(node.name) };
      if (node.op === "element") return { ...node, array: name(node.array) };
      return replace(node);
    });
  const stmt = (s: Stmt): Stmt => {
    switch (s.kind) {
      case "let":
      case "assign":
      case "array":
      case "for":
      case "teamFor":
        return { ...s, name: name(s.name) };
      case "teamReduce":
        return { ...s, name: name(s.name), results: s.results.map((result) => ({ ...result, name: name(result.name) })) };
      case "setElement":
        return { ...s, array: name(s.array) };
      case "atomic":
        return { ...s, ...(s.result !== undefined && { result: name(s.result) }) };
      case "reduce":
        return { ...s, target: name(s.target) };
      // Whole kernels fold jointly: no copy renames their parameters.
      case "reduceJointly":
      case "store":
      case "scatter":
      case "print":
      case "if":
      case "while":
      case "break":
      case "continue":
      case "single":
        // An object of its own: some passes and emitters know a statement by that.
        return { ...s };
      default:
        return unreachable(s);
    }
  };
  return mapStmts(body, { expr, stmt });
}
