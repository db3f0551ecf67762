import type { NumberType } from "../../src/ir/types.js";
import type { ExtremumToken, ReduceToken, ScatterToken } from "../../src/kernel/declare/params.js";
import { type Expressions, NUMERIC, type Variable } from "./expressions.js";
import { TAG, type Parameters } from "./parameters.js";
import { ATOMICS } from "./atomics.js";
import { Counters } from "./counters.js";
import { Forms } from "./forms.js";
import { block, inside, stmt, type Dice, type Context } from "./context.js";
import type { Block, Expr, Part, Stmt } from "./program.js";

const METHODS = { sum: "add", min: "min", max: "max", custom: "merge", joint: "merge" } as const;
const CLASSES: Record<NumberType, string> = { f64: "Float64Array", f32: "Float32Array", i32: "Int32Array", u32: "Uint32Array" };

/** The statements `if (condition) word;` and the like. */
const jump = (condition: Expr, word: string): Stmt => stmt("if (", condition, `) ${word};`);

/** Writes random statements. What they declare is added to the place. */
export class Statements {
  private readonly counters: Counters;
  private readonly forms: Forms;

  constructor(
    private readonly dice: Dice,
    private readonly expressions: Expressions,
    private readonly params: Parameters,
  ) {
    this.counters = new Counters(dice, expressions);
    this.forms = new Forms(dice, expressions);
  }

  fold(place: Context): Stmt {
    const name = this.dice.pick(["total", "least", "greatest", "product", "best"]);
    if (name === "best") return this.extremum(place);
    const { token } = this.params.all.get(name) as { token: ReduceToken<NumberType> };
    return stmt(`${name}.${METHODS[token.op]}(`, this.expressions.of(token.type, place, place.depth), ");");
  }

  /** Few different values, so that some of them tie. */
  private extremum(place: Context): Stmt {
    const { token } = this.params.all.get("best") as { token: ExtremumToken<NumberType> };
    const value = this.expressions.of(token.type, place, place.depth);
    return stmt(`best.${token.op}(`, value, ", ", this.expressions.of("i32", place, 1), ");");
  }

  scatter(place: Context): Stmt {
    const name = this.dice.pick(["hist", "bins"]);
    const { token, shape } = this.params.all.get(name) as { token: ScatterToken<NumberType>; shape: readonly number[] };
    const indices = shape.flatMap((n): Part[] => [this.expressions.index(n, place, 1), ", "]);
    return stmt(`${name}.${METHODS[token.op]}(`, ...indices, this.expressions.of(token.element, place, place.depth), ");");
  }

  /** An operation whose old value nobody uses: all of an array are the same, so that their order does not matter. */
  private atomic(place: Context): Stmt {
    const name = this.dice.pick(ATOMICS.filter((array) => this.params.all.has(array)));
    const { element, shape } = this.params.all.get(name) as { element: "i32" | "u32"; shape: readonly number[] };
    const indices = shape.flatMap((n): Part[] => [this.expressions.index(n, place, 1), ", "]);
    return stmt(`${name}.${name.split("_")[1]}(`, ...indices, this.expressions.of(element, place, place.depth), ");");
  }

  /** One to three. */
  some(place: Context): Stmt[] {
    return Array.from({ length: 1 + this.dice.below(3) }, () => this.one(place)).flat();
  }

  /** A local that hides one of the enclosing block. */
  private shadow(place: Context): Stmt[] {
    const hidden = place.variables.filter((v) => v.assignable && !v.name.includes("["));
    if (!hidden.length) return [];
    const { name, type } = this.dice.pick(hidden);
    place.variables = place.variables.filter((v) => v.name !== name);
    const init = this.expressions.strong(type, place, 1);
    place.variables.push({ name, type, assignable: true });
    return [stmt(`let ${name} = `, init, ";")];
  }

  private body(place: Context, more: Partial<Context> = {}): Block {
    const inner = inside(place, more);
    return block([...(this.dice.chance(12) ? this.shadow(inner) : []), ...this.some(inner)]);
  }

  one(place: Context): Stmt[] {
    const { depth } = place;
    const nested = place.nesting > 0;
    if (this.dice.chance(12)) return this.forms.one(place, (inner) => this.some(inner));
    switch (this.dice.below(nested ? 20 : 12)) {
      case 0:
      case 1:
        return this.declaration(place);
      case 2:
      case 3:
        return this.assignment(place);
      case 4:
        return this.arrayStatement(place);
      case 5:
        return this.tuple(place);
      case 6:
      case 7: {
        if (!place.outputs.length) return this.declaration(place);
        const { type, element: at } = this.dice.pick(place.outputs);
        const operator = type === "f64" && this.dice.chance(50) ? this.dice.pick(["+=", "-=", "*="]) : "=";
        return [stmt(`${at} ${operator} `, this.expressions.of(type, place, depth), ";")];
      }
      case 8:
        return place.kernel ? [this.fold(place)] : this.assignment(place);
      case 9:
        if (!place.kernel) return this.assignment(place);
        return [this.params.hasAtomics && this.dice.chance(40) ? this.atomic(place) : this.scatter(place)];
      case 10: {
        const condition = (): Expr => this.expressions.of("bool", place, 2);
        if (place.inLoop && this.dice.chance(70)) return [jump(condition(), this.dice.pick(["break", "continue"]))];
        if (place.returns === "none" || !this.dice.chance(50)) return this.declaration(place);
        if (place.returns === "void") return [jump(condition(), "return")];
        return [stmt("if (", condition(), ") return ", this.expressions.strong(place.returns, place, 1), ";")];
      }
      case 11:
        return place.rows.length && this.dice.chance(40) ? this.row(place) : this.closure(place);
      case 12:
      case 13:
      case 14:
      case 15: {
        const condition = this.expressions.of("bool", place, 2);
        const then = this.body(place);
        return [
          this.dice.chance(60) ? stmt("if (", condition, ") ", then, " else ", this.body(place)) : stmt("if (", condition, ") ", then),
        ];
      }
      case 16:
      case 17:
        return this.countedLoop(place);
      case 18:
        return this.changingLoop(place);
      default:
        return this.whileLoop(place);
    }
  }

  declaration(place: Context): Stmt[] {
    const type = this.dice.pick([...NUMERIC, "f64", "i32", "bool"] as const);
    const name = this.dice.name("v"),
      assignable = this.dice.chance(70);
    const init = this.expressions.strong(type, place, place.depth);
    place.variables.push({ name, type, assignable });
    return [stmt(`${assignable ? "let" : "const"} ${name} = `, init, ";")];
  }

  private assignment(place: Context): Stmt[] {
    const targets = place.variables.filter((v) => v.assignable);
    if (!targets.length) return this.declaration(place);
    const { name, type } = this.dice.pick(targets);
    const others = targets.filter((v) => v.type === type && v.name !== name);
    if (others.length && this.dice.chance(15)) return [stmt(`[${name}, ${others[0].name}] = [${others[0].name}, ${name}];`)];
    const operator = type === "f64" ? this.dice.pick(["=", "=", "+=", "*=", "-="]) : "=";
    return [stmt(`${name} ${operator} `, this.expressions.strong(type, place, place.depth), ";")];
  }

  private arrayStatement(place: Context): Stmt[] {
    const arrays = place.arrays.filter((a) => a.writable);
    if (!arrays.length || this.dice.chance(30)) {
      const type = this.dice.pick(NUMERIC),
        name = this.dice.name("b"),
        length = this.dice.pick([2, 4, 4, 8]);
      place.arrays.push({ name, type, length, writable: true });
      return [stmt(`const ${name} = new ${CLASSES[type]}(${length});`)];
    }
    const array = this.dice.pick(arrays);
    if (place.kernel && this.dice.chance(20))
      return [stmt(`fill${TAG[array.type]}(${array.name}, `, this.expressions.strong(array.type, place, 2), ");")];
    return [
      stmt(
        `${array.name}[`,
        this.expressions.index(array.length, place, 1),
        "] = ",
        this.expressions.of(array.type, place, place.depth),
        ";",
      ),
    ];
  }

  /** Several values at once. */
  private tuple(place: Context): Stmt[] {
    const types = [this.dice.pick(NUMERIC), this.dice.pick(NUMERIC)];
    const names = types.map(() => this.dice.name("v"));
    const values = types.map((type) => this.expressions.strong(type, place, 2));
    const declared = types.map((type, n): Variable => ({ name: names[n], type, assignable: false }));
    switch (this.dice.below(place.kernel ? 4 : 3)) {
      case 3: {
        const argument = this.expressions.strong("f64", place, 2);
        place.variables.push({ ...declared[0], type: "i32" }, { ...declared[1], type: "f64" });
        return [stmt(`const [${names.join(", ")}] = pair(`, argument, ");")];
      }
      case 0:
        place.variables.push(...declared);
        return [stmt(`const [${names.join(", ")}] = [`, values[0], ", ", values[1], "];")];
      case 1:
        place.variables.push(...declared);
        return [stmt(`const { a: ${names[0]}, b: ${names[1]} } = { a: `, values[0], ", b: ", values[1], " };")];
      default: {
        const list = this.dice.name("q");
        place.variables.push(...types.map((type, n): Variable => ({ name: `${list}[${n}]`, type, assignable: true })));
        return [stmt(`let ${list} = [`, values[0], ", ", values[1], "];")];
      }
    }
  }

  /** A name for a row of a view. */
  private row(place: Context): Stmt[] {
    const { type, row, rest } = this.dice.pick(place.rows);
    const name = this.dice.name("x");
    place.sources.push({ type, parts: [`${name}${rest}`], args: [] });
    return [stmt(`const ${name} = ${row};`)];
  }

  /** A function inside the kernel that changes a local around it, so that the order of evaluation shows. */
  private closure(place: Context): Stmt[] {
    const targets = place.variables.filter((v) => v.assignable && !v.name.includes("["));
    if (!targets.length || !place.effects || place.nesting < 1) return this.assignment(place);
    const { name: target, type } = this.dice.pick(targets);
    const name = this.dice.name("f"),
      argument = this.dice.name("a");
    const scope = inside(place, {
      effects: false,
      variables: [...place.variables, { name: argument, type: "f64", assignable: false }],
    });
    scope.sources = scope.sources.filter((s) => s.args.every((a) => typeof a !== "string"));
    const value = this.expressions.strong(type as NumberType, scope, 2);
    if (type !== "bool") place.sources.push({ type, parts: [`${name}(`, ")"], args: ["f64"] });
    return [stmt(`const ${name} = (${argument}) => `, block([stmt(`${target} = `, value, ";"), stmt(`return ${target};`)]), ";")];
  }

  private countedLoop(place: Context): Stmt[] {
    if (this.dice.chance(30)) return this.counters.loop(place, (inner) => this.some(inner));
    const k = this.dice.name("k");
    const turns = 1 + this.dice.below(4);
    const fixedTurns = place.variables.some((v) => v.name === "order") ? "order" : "4";
    const header: { parts: Part[]; bound: number } = this.dice.pick([
      () => ({ parts: [`for (let ${k} = 0; ${k} < ${turns}; ${k}++) `], bound: turns }),
      () => ({ parts: [`for (let ${k} = 0; ${k} < ${fixedTurns}; ${k}++) `], bound: 4 }),
      () => ({ parts: [`for (let ${k} = ${turns}; ${k} >= 0; ${k} -= 2) `], bound: turns + 1 }),
      () => ({ parts: [`for (let ${k} = (`, this.expressions.index(3, place, 1), `) | 0; ${k} <= 3; ${k} += 1) `], bound: 4 }),
      () => ({ parts: [`for (let ${k} = 0; ${k} < (`, this.expressions.strong("i32", place, 1), ` & 3); ${k}++) `], bound: 3 }),
    ])();
    const body = inside(place, { inLoop: true });
    body.variables.push({ name: k, type: "i32", assignable: false, bound: header.bound });
    return [...this.accumulator(place, body), stmt(...header.parts, block(this.some(body)))];
  }

  /** A sum that starts from a bare literal. */
  private accumulator(place: Context, body: Context): Stmt[] {
    if (!this.dice.chance(40)) return [];
    const name = this.dice.name("w"),
      type = this.dice.pick(["f64", "i32"] as const);
    const value = this.expressions.strong(type, place, 2);
    for (const scope of [place, body]) scope.variables.push({ name, type, assignable: true });
    return [stmt(`let ${name} = 0;`), type === "f64" ? stmt(`${name} += `, value, ";") : stmt(`${name} = (${name} + `, value, ") | 0;")];
  }

  /** A loop whose body changes its counter or what it counts to. */
  private changingLoop(place: Context): Stmt[] {
    const k = this.dice.name("k"),
      n = this.dice.name("n");
    const inner: Partial<Context> = { inLoop: true };
    const condition = (): Expr => this.expressions.of("bool", place, 2);
    const counter: Variable = { name: k, type: "i32", assignable: false, bound: 8 };
    const body = this.body(place, { ...inner, variables: [...place.variables, counter] });
    if (this.dice.chance(50))
      return [stmt(`for (let ${k} = 0; ${k} < 4; ${k}++) `, block([stmt("if (", condition(), `) ${k} += 1;`), stmt(body)]))];
    return [
      stmt(`let ${n} = 4;`),
      stmt(`for (let ${k} = 0; ${k} < ${n}; ${k}++) `, block([stmt("if (", condition(), `) ${n} -= 1;`), stmt(body)])),
    ];
  }

  private whileLoop(place: Context): Stmt[] {
    const t = this.dice.name("t");
    const turns = 1 + this.dice.below(4);
    const condition = this.expressions.of("bool", place, 2);
    const counter: Variable = { name: t, type: "i32", assignable: false, bound: turns + 1 };
    const body = this.body(place, { inLoop: true, variables: [...place.variables, counter] });
    const counted = block([stmt(`${t}++;`), stmt(body)]);
    if (this.dice.chance(50)) return [stmt(`let ${t} = 0;`), stmt(`while (${t} < ${turns} && `, condition, ") ", counted)];
    return [stmt(`let ${t} = 0;`), stmt("do ", counted, ` while (${t} < ${turns} && `, condition, ");")];
  }
}
