import type { Expr, Stmt } from "../types.js";
import { blocksOf, exprsOf, walkExpr } from "../walk.js";

/** How a body treats a set of places: elements of private arrays, or of views in the own cell. */
interface Assigned<K> {
  /** Places that some path reads before it has written them. */
  readonly exposed: ReadonlySet<K>;
  /** Places that every path has written at the end. */
  readonly assigned: ReadonlySet<K>;
}

/**
 * Which places are read before they are written, and which are written in any case. `reads` gives all places that a node may read,
 * `writes` the one that a statement writes for certain. Where paths are not followed exactly (jumps out of loops), places count
 * as exposed, or as not assigned.
 */
export function assignedKeys<K>(
  body: readonly Stmt[],
  reads: (node: Expr) => readonly K[],
  writes: (stmt: Stmt) => K | undefined,
): Assigned<K> {
  const exposed = new Set<K>();

  /** Places written after the block, given the places written before it. */
  const block = (stmts: readonly Stmt[], before: ReadonlySet<K>): Set<K> => {
    const written = new Set(before);
    for (const stmt of stmts) {
      for (const expr of exprsOf(stmt))
        walkExpr(expr, (node) => {
          for (const key of reads(node)) if (!written.has(key)) exposed.add(key);
        });
      const key = writes(stmt);
      if (key !== undefined) written.add(key);
      const [first, second] = blocksOf(stmt).map((inner) => block(inner, written));
      if (stmt.kind === "if") for (const common of first!) if (second!.has(common)) written.add(common);
    }
    return written;
  };

  return { exposed, assigned: block(body, new Set()) };
}
