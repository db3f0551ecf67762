import type { NumberType } from "../../src/ir/types.js";
import type { RandomScalar } from "./scalars.js";
import { Composites } from "./composites.js";
import { block, inside, stmt, type Context, type Dice } from "./context.js";
import { NUMERIC, type Expressions, type Variable } from "./expressions.js";
import type { Block, Part, Stmt } from "./program.js";

type Body = (place: Context) => Stmt[];

/** Writes random switches, loops over elements, and objects. */
export class Forms {
  private readonly composites: Composites;

  constructor(
    private readonly dice: Dice,
    private readonly expressions: Expressions,
  ) {
    this.composites = new Composites(dice, expressions);
  }

  one(place: Context, body: Body): Stmt[] {
    if (place.kernel && this.dice.chance(35)) return this.composites.one(place);
    const choice = this.dice.below(place.nesting > 0 ? 6 : 2);
    if (choice < 2) return place.records.length > 0 ? this.newObject(place) : this.object(place);
    return choice < 4 ? this.choice(place, body) : this.elements(place, body);
  }

  /** A switch, some of whose groups are left before their end. */
  private choice(place: Context, body: Body): Stmt[] {
    const type = this.dice.pick(["i32", "u32"] as const);
    const value: Part[] =
      type === "i32"
        ? ["(", this.expressions.strong(type, place, 2), " & 7) - 1"]
        : ["(", this.expressions.strong(type, place, 2), " % 6) >>> 0"];
    const labels = (type === "i32" ? [-1, 0, 1, 2, 5] : [0, 1, 2, 3, 4]).filter(() => this.dice.chance(60)).map((n) => `case ${n}: `);
    if (this.dice.chance(70)) labels.splice(this.dice.below(labels.length + 1), 0, "default: ");
    const groups: string[][] = [];
    for (const label of labels)
      if (groups.length > 0 && this.dice.chance(30)) groups.at(-1)!.push(label);
      else groups.push([label]);
    const cases = groups.map((group, n) => {
      const end =
        n < groups.length - 1 || this.dice.chance(50) ? [this.dice.pick([" break;", ...(place.inLoop ? [" continue;"] : [])])] : [];
      return stmt(...group, this.left(inside(place), body), ...end);
    });
    return [stmt("switch (", ...value, ") ", block(cases))];
  }

  private left(place: Context, body: Body): Block {
    const before = body(place);
    if (!this.dice.chance(50)) return block(before);
    const leave = stmt("if (", this.expressions.of("bool", place, 2), ") break;");
    const wrapped = this.dice.chance(50)
      ? leave
      : stmt("if (", this.expressions.of("bool", place, 1), ") ", block([leave, ...body(inside(place))]));
    return block([...before, wrapped, ...body(place)]);
  }

  private elements(place: Context, body: Body): Stmt[] {
    const inner = inside(place, { inLoop: true });
    const k = this.dice.name("k");
    const array = place.arrays.length > 0 && this.dice.chance(60) ? this.dice.pick(place.arrays) : undefined;
    if (!array) {
      const [header, bound] = this.dice.pick<() => [Part[], number]>([
        () => [[`span(0, ${1 + this.dice.below(4)})`], 4],
        () => [["span((", this.expressions.index(3, place, 1), ") | 0, 5, 2)"], 5],
        () => [[`span(${this.dice.below(4)}, -1, -${1 + this.dice.below(3)})`], 4],
        () => [["span(0, ", this.expressions.strong("i32", place, 1), " & 3)"], 3],
      ])();
      inner.variables.push({ name: k, type: "i32", assignable: false, bound });
      return [stmt(`for (const ${k} of `, ...header, ") ", block(body(inner)))];
    }
    const [v, assignable] = [this.dice.name("v"), this.dice.chance(40)];
    const word = assignable ? "let" : "const";
    inner.variables.push({ name: v, type: array.type, assignable });
    if (this.dice.chance(50)) return [stmt(`for (${word} ${v} of ${array.name}) `, block(body(inner)))];
    inner.variables.push({ name: k, type: "i32", assignable: false, bound: array.length });
    inner.variables = inner.variables.map((each) => (each.name === v ? { ...each, assignable: false } : each));
    return [stmt(`for (const [${k}, ${v}] of ${array.name}.entries()) `, block(body(inner)))];
  }

  /** A variable that holds an object; others may hold it, too. */
  private object(place: Context): Stmt[] {
    const types: RandomScalar[] = [this.dice.pick(NUMERIC), this.dice.pick(NUMERIC), "bool"];
    const name = this.dice.name("r");
    const fields = Object.fromEntries(types.map((type, n) => ["abc"[n], type]));
    const first = this.literal(fields, place);
    place.records.push({ name, fields });
    this.list(name, fields, place);
    return [stmt(`let ${name} = `, ...first, ";")];
  }

  private newObject(place: Context): Stmt[] {
    if (this.dice.chance(25)) return this.object(place);
    const { name, fields } = this.dice.pick(place.records);
    switch (this.dice.below(4)) {
      case 0: {
        const other = this.dice.name("r");
        this.list(other, fields, place);
        return [stmt(`const ${other} = ${name};`)];
      }
      case 1:
        return [stmt(`${name} = `, ...this.literal(fields, place), ";")];
      case 2: {
        const condition = this.expressions.of("bool", place, 2);
        return [stmt(`${name} = `, condition, " ? ", ...this.literal(fields, place), ` : ${name};`)];
      }
      default: {
        const field = this.dice.pick(Object.keys(fields));
        return [stmt(`${name} = { ...(${name}), ${field}: `, this.expressions.strong(fields[field], place, 2), " };")];
      }
    }
  }

  private literal(fields: Readonly<Record<string, RandomScalar>>, place: Context): Part[] {
    const parts = Object.entries(fields).flatMap(([field, type]): Part[] => [`, ${field}: `, this.expressions.strong(type, place, 2)]);
    return ["{ ", (parts[0] as string).slice(2), ...parts.slice(1), " }"];
  }

  private list(name: string, fields: Readonly<Record<string, RandomScalar>>, place: Context): void {
    for (const [field, type] of Object.entries(fields))
      place.variables.push({ name: `${name}.${field}`, type: type as NumberType, assignable: false } satisfies Variable);
  }
}
