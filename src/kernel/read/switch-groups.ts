import type * as acorn from "acorn";
import { isCoverage } from "./coverage.js";
import { alwaysReturns } from "./syntax.js";

/** Statements of a `switch` under one label or several. */
export interface SwitchGroup {
  readonly labels: readonly acorn.SwitchCase[];
  readonly body: readonly acorn.Statement[];
}

/** A body that runs on into the body of the next labels. */
interface RunsOn {
  readonly from: acorn.SwitchCase;
  readonly into: acorn.SwitchCase;
}

/** The groups of a `switch`, or where one runs on into the next. */
export function switchGroups({ cases }: acorn.SwitchStatement): SwitchGroup[] | RunsOn {
  const groups: SwitchGroup[] = [];
  let labels: acorn.SwitchCase[] = [];
  for (const [n, each] of cases.entries()) {
    labels.push(each);
    const body = each.consequent.filter((s) => !(s.type === "ExpressionStatement" && isCoverage(s.expression)));
    if (n < cases.length - 1) {
      if (body.length === 0) continue;
      if (!leaves(body)) return { from: each, into: cases[n + 1] };
    }
    groups.push({ labels, body });
    labels = [];
  }
  return groups;
}

/** True if control does not reach the end of the statements. */
const leaves = (list: readonly acorn.Statement[]): boolean =>
  list.some((stmt) => {
    switch (stmt.type) {
      case "BreakStatement":
      case "ContinueStatement":
        return true;
      case "BlockStatement":
        return leaves(stmt.body);
      case "IfStatement":
        return !!stmt.alternate && leaves([stmt.consequent]) && leaves([stmt.alternate]);
      // Any other statement ends control only where it returns.
      default:
        return alwaysReturns(stmt);
    }
  });
