import { not } from "../expressions.js";
import { literal } from "../simplify.js";
import { define, localOf } from "../by-name.js";
import type { Expr, KernelIR, Location, Stmt } from "../types.js";
import { hasChecks, mapBlocks, mapChildren, mapOwnExprs } from "../walk.js";
import { FreshNames } from "./copy.js";

/**
 * The kernel with each check of an index in a statement of its own, `const at = checked(...)`, in the order of evaluation: for languages that
 * leave this order open, or evaluate both sides of a choice, and for teams, all of whose members are to pass a check alike.
 */
export function sequenceChecks(ir: KernelIR): KernelIR {
  if (!ir.checks) return ir;
  const names = new FreshNames(ir);

  /** Rest of an expression after its checks have become statements in `before`. */
  const lift = (e: Expr, before: Stmt[], location: Location): Expr => {
    if (!hasChecks(e)) return e;
    const assigned = (name: string, value: Expr): Stmt[] => {
      const inner: Stmt[] = [];
      inner.push({ kind: "assign", name, value: lift(value, inner, location), location });
      return inner;
    };
    switch (e.op) {
      case "checked": {
        const name = names.fresh("at");
        before.push(define(name, { ...e, index: lift(e.index, before, location), extent: lift(e.extent, before, location) }, location));
        return localOf(name, "i32");
      }
      case "select": {
        if (!hasChecks(e.a) && !hasChecks(e.b)) break;
        const cond = lift(e.cond, before, location);
        const name = names.fresh("chosen");
        const [then, otherwise] = [assigned(name, e.a), assigned(name, e.b)];
        before.push({ kind: "let", name, type: e.type, location }, { kind: "if", cond, then, else: otherwise, location });
        return localOf(name, e.type);
      }
      case "logical": {
        if (!hasChecks(e.b)) break;
        const name = names.fresh(e.fn === "and" ? "both" : "either");
        const local = localOf(name, "bool");
        before.push(define(name, lift(e.a, before, location), location));
        before.push({ kind: "if", cond: e.fn === "and" ? local : not(local), then: assigned(name, e.b), else: [], location });
        return local;
      }
      // Any other expression evaluates all of its parts, in order.
      default:
    }
    return mapChildren(e, (child) => lift(child, before, location));
  };

  const stmt = (whole: Stmt): Stmt[] => {
    const { location } = whole;
    const inner = mapBlocks(whole, (block) => block.flatMap(stmt));
    const before: Stmt[] = [];
    if (inner.kind === "let" && inner.init?.op === "checked") {
      const { index, extent } = inner.init;
      const init = { ...inner.init, index: lift(index, before, location), extent: lift(extent, before, location) };
      return [...before, { ...inner, init }];
    }
    const mapped = mapOwnExprs(inner, (e) => lift(e, before, location));
    if (mapped.kind !== "while" || before.length === 0) return [...before, mapped];
    const leave: Stmt = { kind: "if", cond: not(mapped.cond), then: [{ kind: "break", location }], else: [], location };
    return [{ ...mapped, cond: literal("bool", true), body: [...before, leave, ...mapped.body] }];
  };

  return { ...ir, body: ir.body.flatMap(stmt) };
}
