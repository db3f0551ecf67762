import type { DataLoop, DataSet, Designator, Expr } from "../tree/index.js";
import type { Cursor } from "./cursor.js";
import { designator, parseRange, primary } from "./expressions.js";

/* `data a, b /1.0, 2*3.0/, (c(i), i = 1, 3) /3*0/` */

/** The sets of objects and values, after the word `data`. @throws SyntaxProblem */
export function dataSets(c: Cursor): DataSet[] {
  const sets: DataSet[] = [];
  do {
    const objects = c.list(() => dataObject(c));
    c.expect("/");
    const values = c.list(() => dataValue(c));
    c.expect("/");
    sets.push({ objects, values });
    // A comma between the sets may be left out.
  } while (c.take(",") || c.token.kind !== "end");
  return sets;
}

function dataObject(c: Cursor): Designator | DataLoop {
  if (!c.take("(")) return designator(c);
  const items: (Designator | DataLoop)[] = [];
  do {
    if (items.length > 0 && c.token.kind === "name" && c.is("=", c.peek())) break;
    items.push(dataObject(c));
  } while (c.take(","));
  const variable = c.name();
  c.expect("=");
  const range = parseRange(c);
  c.expect(")");
  return { kind: "data-loop", items, variable, ...range };
}

/** `3*0.0`, `-1`, `.true.`, a named constant. */
function dataValue(c: Cursor): DataSet["values"][number] {
  const first = signed(c);
  return c.take("*") ? { count: first, value: signed(c) } : { value: first };
}

function signed(c: Cursor): Expr {
  const at = c.at();
  if (!c.is("-") && !c.is("+")) return primary(c);
  const op = c.next().text as "-" | "+";
  return { kind: "unary", op, a: primary(c), at };
}
