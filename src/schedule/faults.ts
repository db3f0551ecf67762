import { identifier } from "../base/names.js";
import { FAULT } from "../ir/passes/check-indices.js";
import { add, and, asLongAs, assign, bits, cast, declare, eq, fixed, local, lt, ne, not, num, or, read, variable, when } from "./build.js";
import type { Expr, Func, Memory, Stmt } from "./nodes.js";

const AXES = ["i", "j", "k", "l"] as const;

/**
 * A function that notes a failure in the record, unless one of an element before this one is there. The lock is odd while somebody writes, and
 * another number after each time: what was read between two looks at it that find the same belongs together. Who writes does so inside of the loop, as
 * threads that run in step with it wait for it there.
 */
export function failureNote(): Func {
  const { lock, failed, site, index, element: first } = FAULT;
  const record: Memory = { id: identifier("record"), element: "i32", space: "device", volatile: true };
  const [done, seen] = [local("done", "bool"), local("seen", "int")];
  const word = (n: number): Expr => read(record, num(n, "index"), "int");
  const set = (n: number, value: Expr): Stmt => assign({ memory: record, offset: num(n, "index"), type: "int" }, value);
  const fence: Stmt = { kind: "fence", scope: "device" };
  const earlier = and(
    ne(word(failed), 0),
    orderedBefore(
      (n) => word(first + n),
      AXES.map((axis) => local(axis, "int")),
    ),
  );
  const exchange: Expr = { op: "exchange", type: "i32", at: record, offset: num(lock, "index"), seen, wanted: add(seen, 1) };
  const note: Stmt[] = [
    set(site, local("site", "int")),
    set(index, local("index", "int")),
    ...AXES.map((axis, n) => set(first + n, local(axis, "int"))),
    set(failed, num(1)),
    fence,
    set(lock, add(seen, 2)),
    assign(variable("done", "bool"), TRUE),
  ];
  return {
    id: identifier("note_failure"),
    apart: true,
    params: [{ memory: record }, ...(["site", "index", ...AXES] as const).map((id) => ({ id: identifier(id), type: "int" as const }))],
    body: [
      declare("done", "bool", { op: "const", type: "bool", value: false }),
      asLongAs(not(done), [
        fixed("seen", word(lock)),
        when(eq(bits.and(seen, 1), 0), [
          fence,
          fixed("earlier", earlier),
          fence,
          when(
            local("earlier", "bool"),
            [assign(variable("done", "bool"), eq(word(lock), seen))],
            [when(eq(cast(exchange, "int"), seen), note)],
          ),
        ]),
      ]),
    ],
  };
}

const TRUE: Expr = { op: "const", type: "bool", value: true };

/** Condition that the element with the indices `known` comes no later than the element at `axes`, in row-major order. */
function orderedBefore(known: (n: number) => Expr, axes: readonly Expr[]): Expr {
  const [axis, ...rest] = axes;
  const at = known(0);
  if (rest.length === 0) return { op: "compare", type: "bool", fn: "le", a: at, b: axis! };
  return or(
    lt(at, axis!),
    and(
      eq(at, axis!),
      orderedBefore((n) => known(n + 1), rest),
    ),
  );
}

/**
 * Position of the code of a team that is being scheduled: the statements shared by members that come before or around it, and the iterations of
 * their loops. Of the failures of one team, the first in this order is recorded, as members run at the same time.
 */
export class TeamOrder {
  private phase = 0;
  private turns: readonly Expr[] = [];

  /** At most three values. */
  get place(): readonly Expr[] {
    return [num(this.phase), ...this.turns].slice(0, 3);
  }

  /** Inside of a shared statement; `turn` is its variable where it is a loop, else 0. */
  inside(turn: Expr, make: () => void): void {
    const outer = this.turns;
    if (outer.length === 0) this.phase++;
    this.turns = [...outer, turn];
    make();
    this.turns = outer;
    if (outer.length === 0) this.phase++;
  }
}
