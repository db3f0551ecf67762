import { constant } from "./expressions.js";
import { jumpOf } from "./structure.js";
import type { Expr, Stmt } from "./types.js";
import { blocksOf, mapBlocks } from "./walk.js";

/*
 * Jumps to the end of statements that are not a loop, such as a `break` of a switch: they become branches.
 */

/** True if the statement has a jump that leaves the statements under the label. */
const jumpsTo = (stmt: Stmt, label: string): boolean =>
  jumpOf(stmt)?.of === label || blocksOf(stmt).some((block) => block.some((inner) => jumpsTo(inner, label)));

/** True if control never reaches the end of the statements. */
const leaves = (list: readonly Stmt[]): boolean =>
  list.some((s) => s.kind === "break" || s.kind === "continue" || (s.kind === "if" && leaves(s.then) && leaves(s.else)));

/**
 * The statements without the jumps that leave them, `{ kind: "break", of: label }`, which stand in no loop inside of them. Statements after an `if` that leaves
 * move into its other branch; where neither branch always leaves, a flag tells.
 *
 * @param unique gives a name like the one wished for that is free in the kernel
 */
export function leftByBranches(list: readonly Stmt[], label: string, unique: (wish: string) => string): Stmt[] {
  let flag: string | undefined;
  const within = (stmts: readonly Stmt[], flagged: boolean): Stmt[] => {
    const out: Stmt[] = [];
    for (const [n, stmt] of stmts.entries()) {
      if (jumpOf(stmt)?.of === label) {
        if (flagged) out.push({ kind: "assign", name: flag!, value: constant("bool", true), location: stmt.location });
        return out;
      }
      if (!jumpsTo(stmt, label)) {
        out.push(stmt);
        continue;
      }
      const rest = stmts.slice(n + 1);
      if (stmt.kind !== "if" || rest.length === 0) return [...out, mapBlocks(stmt, (block) => within(block, flagged))];
      const [then, other] = [leaves(stmt.then), leaves(stmt.else)];
      if (then || other) {
        const branches = [then ? stmt.then : [...stmt.then, ...rest], other ? stmt.else : [...stmt.else, ...rest]];
        return [...out, { ...stmt, then: within(branches[0]!, flagged), else: within(branches[1]!, flagged) }];
      }
      flag ??= unique("left");
      const left: Expr = { op: "local", type: "bool", name: flag };
      out.push(mapBlocks(stmt, (block) => within(block, true)));
      const cond: Expr = { op: "unary", type: "bool", fn: "not", a: left };
      return [...out, { kind: "if", cond, then: within(rest, flagged), else: [], location: rest[0]!.location }];
    }
    return out;
  };
  const stmts = within(list, false);
  if (flag === undefined) return stmts;
  return [{ kind: "let", name: flag, type: "bool", init: constant("bool", false), location: list[0]!.location }, ...stmts];
}
