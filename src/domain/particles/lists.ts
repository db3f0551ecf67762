import { define, loadInt, localOf } from "../../ir/by-name.js";
import type { Expr, KernelIR, Stmt, ViewParam } from "../../ir/types.js";
import { analyseContainer } from "../container/analysis.js";
import type { Container, GridSpecies } from "../grid/grid.js";
import type { MemberArray } from "../grid/parts.js";
import { cutsRows } from "../grid/split.js";
import { add, index, int, mul, sub } from "../../ir/expressions.js";

/**
 * A container that tells each cell which particles it has: in the fields `first` and `count` of the species.
 *
 * @param offsets start of each cell's particles on a member, and of the next member's
 * @param origins the first plane of a member; where rows are cut, its first row and their number, too
 */
export function listingOf({ grid, name, first, count, location }: GridSpecies, offsets: MemberArray, origins: MemberArray): Container {
  const axes = grid.extents.length;
  const here = Array.from({ length: axes }, (_, axis) => index(axis));
  // Planes are subtracted first, since the number of a cell of the whole box may be beyond an i32.
  const plane = sub(here[0], loadInt("origin", int(0)));
  const number = cutsRows(grid)
    ? add(mul(add(mul(plane, loadInt("origin", int(2))), sub(here[1], loadInt("origin", int(1)))), grid.extents[0]), here[2])
    : here.slice(1).reduce((sum, index, n) => add(mul(sum, grid.extents[axes - 2 - n]), index), plane);
  const [own, begin] = [localOf("own", "i32"), localOf("begin", "i32")];
  const set = (view: string, value: Expr): Stmt => ({ kind: "store", view, indices: [...here, int(0)], value, location });
  const body = [
    define(own.name, number, location),
    define(begin.name, loadInt("offsets", own), location),
    set("first", begin),
    set("count", sub(loadInt("offsets", add(own, 1)), begin)),
  ];
  const array = (param: string): ViewParam => ({ kind: "view", name: param, element: "i32", rank: 1, disjoint: false });
  const list = (param: string): ViewParam => ({ ...array(param), rank: axes + 1 });
  const code: KernelIR = {
    name: `list ${name}`,
    policy: { kind: "range", rank: axes },
    params: [list("first"), list("count"), array("offsets"), array("origin")],
    tables: [],
    body,
    location,
  };
  const fields = new Map([
    ["first", { field: first, level: "own" as const }],
    ["count", { field: count, level: "own" as const }],
  ]);
  const { ir, uses } = analyseContainer(code, fields, grid);
  const arrays = new Map(
    Object.entries({ offsets, origin: origins }).map(([param, a]) => [param, { array: a, read: true, written: false }]),
  );
  const none = { scalars: new Map(), reductions: new Map(), values: new Map(), reduces: false, stencil: false };
  return { name: code.name, grid, location, ir, uses, arrays, ...none };
}
