import type { NumberType } from "../../src/ir/types.js";
import { NUMERIC, type Expressions } from "./expressions.js";
import { block, inside, stmt, type Dice, type Context } from "./context.js";
import type { Stmt } from "./program.js";
import type { Statements } from "./statements.js";

/** A view of rank 2 of which a team writes its own row. */
export interface Row {
  name: string;
  type: NumberType;
}
/** Columns of these, and the most members that a shared loop has. */
export const WIDTH = 40;
/** A view of rank 3 of which each member of a team writes its own row. */
export interface Plane {
  name: string;
  type: NumberType;
}
/** Columns of these, and the most lanes that a loop of a member has. */
export const DEPTH = 20;

/** Writes random statements of a team: loops that its members share, folds, scratch memory. */
export class TeamStatements {
  constructor(
    private readonly dice: Dice,
    private readonly expressions: Expressions,
    private readonly statements: Statements,
    private readonly faithful: boolean,
    private readonly planes: readonly Plane[],
    /** Teams may run side by side: members share out nothing but folds. */
    private readonly onlyFolds: boolean,
  ) {}

  some(place: Context, rows: readonly Row[], count: number): Stmt[] {
    return Array.from({ length: count }, () => this.one(place, rows)).flat();
  }

  private one(place: Context, rows: readonly Row[]): Stmt[] {
    const kind = this.dice.below(place.nesting > 1 ? 10 : 8);
    switch (this.onlyFolds && kind > 4 && kind < 8 ? 2 : kind) {
      case 0:
        return this.statements.declaration(place);
      case 1:
        return [this.statements.fold(place)];
      case 2:
      case 3:
        return this.sum(place);
      case 4:
        return this.reduce(place);
      case 5:
        return this.scratch(place);
      case 8:
        return [stmt("if (", this.expressions.of("bool", place, 2), ") ", block(this.some(inside(place), rows, 1 + this.dice.below(2))))];
      case 9: {
        const k = this.dice.name("k");
        const inner = inside(place);
        inner.variables.push({ name: k, type: "i32", assignable: false, bound: 3 });
        return [stmt(`for (let ${k} = 0; ${k} < 3; ${k}++) `, block(this.some(inner, rows, 1 + this.dice.below(2))))];
      }
      default:
        return this.range(place, rows);
    }
  }

  private count(): string {
    return this.dice.pick([String(WIDTH), "7", "team.index + 3", "1", "0", "33"]);
  }

  /** Inside a shared loop. What is declared outside it cannot be assigned there. */
  private member(place: Context, j: string): Context {
    const inner = inside(place, { depth: 2, outputs: [], kernel: false });
    inner.variables = inner.variables.map((v) => ({ ...v, assignable: false }));
    inner.arrays = inner.arrays.map((a) => ({ ...a, writable: false }));
    inner.variables.push({ name: j, type: "i32", assignable: false });
    return inner;
  }

  private sum(place: Context): Stmt[] {
    const j = this.dice.name("j"),
      name = this.dice.name("v");
    const type = this.faithful ? "f64" : this.dice.pick(NUMERIC);
    const inner = this.member(place, j);
    const lanes = !this.onlyFolds && this.dice.chance(30) ? this.laneSum(inner, j) : [];
    const value = this.expressions.strong(type, inner, 3);
    place.variables.push({ name, type, assignable: false });
    const call = `const ${name} = team.${this.dice.pick(["sum", "min", "max"])}(${this.count()}, `;
    if (lanes.length === 0) return [stmt(`${call}(${j}) => `, value, ");")];
    return [stmt(`${call}(${j}, lanes) => `, block([...lanes, stmt("return ", value, ";")]), ");")];
  }

  /** What a member shares out among its lanes; `place` is the member's. */
  private lanes(place: Context, j: string): Stmt[] {
    return this.dice.pick([
      () => this.laneSum(place, j),
      () => [...this.laneSum(place, j), ...this.laneRange(place, j)],
      () => [...this.laneRange(place, j), ...this.laneReduce(place, j)],
    ])();
  }

  private laneCount(j: string): string {
    return this.dice.pick([String(DEPTH), "9", `${j} % 5`, "1", "0"]);
  }

  private laneSum(place: Context, j: string): Stmt[] {
    const k = this.dice.name("k"),
      name = this.dice.name("v");
    const type = this.faithful ? "f64" : this.dice.pick(NUMERIC);
    const value = this.expressions.strong(type, this.member(place, k), 2);
    place.variables.push({ name, type, assignable: false });
    return [stmt(`const ${name} = lanes.${this.dice.pick(["sum", "min", "max"])}(${this.laneCount(j)}, (${k}) => `, value, ");")];
  }

  private laneReduce(place: Context, j: string): Stmt[] {
    const k = this.dice.name("k"),
      name = this.dice.name("r");
    const inner = this.member(place, k);
    const added = stmt("if (", this.expressions.of("bool", inner, 2), `) ${name}.a.add(`, this.expressions.strong("f64", inner, 2), ");");
    const least = stmt(`${name}.b.min(`, this.expressions.strong("f64", inner, 2), ");");
    const [a, b] = [this.dice.name("v"), this.dice.name("v")];
    for (const known of [a, b]) place.variables.push({ name: known, type: "f64", assignable: false });
    const call = `lanes.reduce(${this.laneCount(j)}, { a: "sum", b: "min" }, (${k}, ${name}) => `;
    return [stmt(`const { a: ${a}, b: ${b} } = ${call}`, block([added, least]), ");")];
  }

  private laneRange(place: Context, j: string): Stmt[] {
    const k = this.dice.name("k");
    const { name, type } = this.dice.pick(this.planes);
    const at = `${name}[team.index][${j}][${k}]`;
    const inner: Context = { ...this.member(place, k), effects: true, returns: "void", outputs: [{ type, element: at }] };
    inner.sources.push({ type, parts: [at], args: [] });
    const last = stmt(`${at} = `, this.expressions.of(type, inner, 2), ";");
    return [stmt(`lanes.range(${this.laneCount(j)}, (${k}) => `, block([...this.statements.one(inner), last]), ");")];
  }

  private reduce(place: Context): Stmt[] {
    const j = this.dice.name("j"),
      name = this.dice.name("r");
    const inner = this.member(place, j);
    const lanes = !this.onlyFolds && this.dice.chance(30) ? this.lanes(inner, j) : [];
    const stmts = [...lanes, ...this.statements.one({ ...inner, effects: true })];
    const added = stmt("if (", this.expressions.of("bool", inner, 2), ") r.a.add(", this.expressions.strong("f64", inner, 2), ");");
    const most = stmt("r.b.max(", this.expressions.strong("f64", inner, 2), ");");
    place.variables.push({ name: `${name}.a`, type: "f64", assignable: false }, { name: `${name}.b`, type: "f64", assignable: false });
    const results = `{ a: "sum", b: "max" }`;
    return [stmt(`const ${name} = team.reduce(${this.count()}, ${results}, (${j}, r, lanes) => `, block([...stmts, added, most]), ");")];
  }

  private scratch(place: Context): Stmt[] {
    const j = this.dice.name("j"),
      name = this.dice.name("c");
    const type = this.dice.pick(NUMERIC);
    const value = this.expressions.of(type, this.member(place, j), 2);
    const late = this.expressions.strong(type, place, 1);
    place.arrays.push({ name, type, length: 16, writable: false });
    return [
      stmt(`const ${name} = team.scratch("${type}", 16${this.dice.chance(30) ? ", { level: 1 }" : ""});`),
      stmt(`team.range(16, (${j}) => `, block([stmt(`${name}[${j}] = `, value, ";")]), ");"),
      ...(this.dice.chance(50) ? [stmt("team.single(() => ", block([stmt(`${name}[${this.dice.below(16)}] = `, late, ";")]), ");")] : []),
    ];
  }

  private range(place: Context, rows: readonly Row[]): Stmt[] {
    const j = this.dice.name("j");
    const { name, type } = this.dice.pick(rows);
    const at = `${name}[team.index][${j}]`;
    const inner: Context = { ...this.member(place, j), effects: true, returns: "void", outputs: [{ type, element: at }] };
    inner.sources.push({ type, parts: [at], args: [] });
    const lanes = this.dice.chance(40) ? this.lanes(inner, j) : [];
    const stmts = [...lanes, ...this.statements.some(inner), ...(this.dice.chance(40) ? [this.statements.scatter(inner)] : [])];
    const last = stmt(`${at} = `, this.expressions.of(type, inner, 2), ";");
    return [stmt(`team.range(${this.count()}, (${j}, lanes) => `, block([...stmts, last]), ");")];
  }
}
