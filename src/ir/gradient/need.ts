import { unreachable } from "../../base/unreachable.js";
import type { Stmt } from "../types.js";
import { blocksOf, changedIn, declares, exprsOf, mapBlocks, walkExpr, walkStmts } from "../walk.js";

/**
 * Removes all that no store, scatter or reduction needs, values and the records of them included. Code is written as if all were needed: this is the
 * to-be-recorded analysis.
 */
export function needed(body: readonly Stmt[], repeated: ReadonlySet<string> = new Set(), roots: Iterable<string> = []): Stmt[] {
  return new Need(repeated, roots).of(body);
}

/** Names that a loop's turn needs, where `results` are the names that are read after it. */
export function namesNeeded(turn: readonly Stmt[], results: Iterable<string>): ReadonlySet<string> {
  const declared = new Set<string>();
  walkStmts(turn, (stmt) => declares(stmt).forEach((name) => declared.add(name)));
  const need = new Need(new Set(), results);
  for (const name of changedIn(turn, "local", "array")) if (!declared.has(name)) need.names.add(name);
  need.of(turn);
  return need.names;
}

class Need {
  readonly names: Set<string>;
  private readonly views = new Set<string>();

  constructor(
    private readonly repeated: ReadonlySet<string>,
    roots: Iterable<string>,
  ) {
    this.names = new Set(roots);
  }

  of(body: readonly Stmt[]): Stmt[] {
    for (let before = -1; before !== this.size;) {
      before = this.size;
      walkStmts(body, (stmt) => this.keeps(stmt) && this.add(stmt));
    }
    return this.swept(body);
  }

  private get size(): number {
    return this.names.size + this.views.size;
  }

  private add(stmt: Stmt): void {
    for (const expr of exprsOf(stmt))
      walkExpr(expr, (node) => {
        if (node.op === "local") this.names.add(node.name);
        if (node.op === "element") this.names.add(node.array);
        if (node.op === "load") this.views.add(node.view);
      });
  }

  private swept(body: readonly Stmt[]): Stmt[] {
    return body.filter((stmt) => this.keeps(stmt)).map((stmt) => mapBlocks(stmt, (block) => this.swept(block)));
  }

  private keeps(stmt: Stmt): boolean {
    switch (stmt.kind) {
      case "store":
        return !this.repeated.has(stmt.view) || this.views.has(stmt.view);
      case "scatter":
      case "reduce":
      case "reduceJointly":
      case "atomic":
      case "print":
      case "break":
      case "continue":
        return true;
      case "let":
      case "assign":
      case "array":
        return this.names.has(stmt.name);
      case "setElement":
        return this.names.has(stmt.array);
      case "if":
      case "for":
      case "while":
      case "teamFor":
      case "teamReduce":
      case "single":
        return blocksOf(stmt).some((block) => block.some((each) => this.keeps(each)));
      default:
        return unreachable(stmt);
    }
  }
}
