import fc from "fast-check";
import { range, teams, type RangePolicy } from "../../src/device/policy.js";
import type { ElementType, NumericType, ScalarType } from "../../src/ir/types.js";
import {
  bool,
  f32,
  f64,
  fixed,
  i32,
  max,
  min,
  reducer,
  scatter,
  sum,
  table,
  u32,
  u8,
  view,
  type Rank,
  type ReduceToken,
  type ScatterToken,
} from "../../src/kernel/params.js";
import { chance, Expressions, NUMERIC, pick, type Choices, type Scope, type Variable } from "./expressions.js";
import { smaller, type Block, type Declared, type Expr, type Part, type Program, type Stmt } from "./program.js";

/** Random kernels, sound and free of races by construction, that shrink by losing statements and subexpressions. */
export class KernelPrograms extends fc.Arbitrary<Program> {
  override generate(random: fc.Random): fc.Value<Program> {
    return new fc.Value(new Generator({ below: (n) => random.nextInt(0, n - 1) }).program(), undefined);
  }
  override canShrinkWithoutContext(value: unknown): value is Program {
    return value !== undefined;
  }
  override shrink(value: Program): fc.Stream<fc.Value<Program>> {
    return new fc.Stream(smaller(value)).map((p) => new fc.Value(p, undefined));
  }
}

const TOKENS = { f64, f32, i32, u32, bool, u8 };
const TAG: Record<NumericType, string> = { f64: "d", f32: "f", i32: "i", u32: "u" };
/** Extents of the views that are read at any place. */
const POOL = 16,
  ROWS = 5,
  COLUMNS = 7;
/** Columns of what a team writes, and the most members. */
const WIDTH = 40;

const stmt = (...parts: Part[]): Stmt => ({ kind: "stmt", parts });
const block = (stmts: readonly Stmt[]): Block => ({ kind: "block", stmts });
/** The statements `if (condition) word;` and the like. */
const jump = (condition: Expr, word: string): Stmt => stmt("if (", condition, `) ${word};`);

interface Place extends Scope {
  /** Deepest nesting of statements and of expressions from here on. */
  nesting: number;
  depth: number;
  inLoop: boolean;
  /** `return;` may stand here, or a return of this type. */
  returns: "none" | "void" | ScalarType;
  /** Views that are written at this element's place, as text such as `yd[i][j]`. */
  outputs: { type: NumericType; place: string }[];
  /** Reductions and scatter targets may be folded into. */
  folds: boolean;
}

class Generator {
  private readonly params = new Map<string, Declared>();
  private readonly faithful: boolean;
  private readonly expressions: Expressions;
  private names = 0;

  constructor(private readonly choices: Choices) {
    this.faithful = chance(choices, 75);
    this.expressions = new Expressions(choices, this.faithful);
  }

  program(): Program {
    return chance(this.choices, 18) ? this.teamProgram() : this.rangeProgram();
  }

  private below(n: number): number {
    return this.choices.below(n);
  }
  private chance(percent: number): boolean {
    return chance(this.choices, percent);
  }
  private pick<T>(list: readonly T[]): T {
    return pick(this.choices, list);
  }
  private name(prefix: string): string {
    return `${prefix}${++this.names}`;
  }

  /* Whole programs. */

  private rangeProgram(): Program {
    const policy = this.policy();
    const rank = policy.extents.length;
    const indices = ["i", "j", "k"].slice(0, rank);
    const place = this.place(indices);
    const ends = policy.extents.map((n, a) => n + policy.begin[a]);
    this.inputs(
      place,
      ends.map((n) => n + 2),
      indices,
    );
    for (const type of this.some(NUMERIC)) {
      const name = `y${TAG[type]}`;
      this.view(
        name,
        type,
        ends.map((n) => Math.max(n, 1)),
      );
      const at = `${name}${indices.map((i) => `[${i}]`).join("")}`;
      place.outputs.push({ type, place: at });
      place.sources.push({ type, parts: [at], args: [] });
    }
    this.helpers(place);
    this.foldTargets();
    place.folds = true;
    place.returns = "void";
    const stmts = this.statements(place, 3 + this.below(6));
    for (const { type, place: at } of place.outputs) stmts.push(stmt(`${at} = `, this.expressions.of(type, place, 3), ";"));
    return { params: this.params, indices, body: block(stmts), policy, data: this.below(1 << 30), faithful: this.faithful };
  }

  private policy(): RangePolicy {
    const begin = () => (this.chance(40) ? this.below(4) : 0);
    const extents = this.pick([
      () => [1 + this.below(40)],
      () => [1 + this.below(40)],
      () => [200 + this.below(500)],
      () => [1 + this.below(5), 1 + this.below(24)],
      () => [2, 250 + this.below(40)],
      () => [1 + this.below(3), 1 + this.below(4), 1 + this.below(18)],
      () => [this.below(3)],
    ])();
    return range(
      ...extents.map((n): [number, number] => {
        const first = begin();
        return [first, first + n];
      }),
    );
  }

  private teamProgram(): Program {
    const league = 1 + this.below(6);
    const place = this.place(["team.index"]);
    this.inputs(place, [league + 2], ["team.index"]);
    for (const type of this.some(NUMERIC)) {
      this.view(`y${TAG[type]}`, type, [league]);
      const at = `y${TAG[type]}[team.index]`;
      place.outputs.push({ type, place: at });
      place.sources.push({ type, parts: [at], args: [] });
    }
    this.helpers(place);
    this.foldTargets();
    const rows = this.some(NUMERIC).map((type) => {
      const name = `m${TAG[type]}`;
      this.view(name, type, [league, WIDTH]);
      return { name, type };
    });
    place.effects = false;
    const stmts: Stmt[] = [];
    for (let n = 3 + this.below(4); n > 0; n--) stmts.push(...this.teamStatement(place, rows));
    for (const { type, place: at } of place.outputs) stmts.push(stmt(`${at} = `, this.expressions.of(type, place, 2), ";"));
    return {
      params: this.params,
      indices: ["team"],
      body: block(stmts),
      policy: teams(league),
      data: this.below(1 << 30),
      faithful: this.faithful,
    };
  }

  private place(indices: readonly string[]): Place {
    return {
      variables: indices.map((name): Variable => ({ name, type: "i32", assignable: false })),
      arrays: [],
      sources: [],
      effects: true,
      nesting: 2,
      depth: 3,
      inLoop: false,
      returns: "none",
      outputs: [],
      folds: false,
    };
  }

  private inner(place: Place, more: Partial<Place> = {}): Place {
    return {
      ...place,
      variables: [...place.variables],
      arrays: [...place.arrays],
      sources: [...place.sources],
      nesting: place.nesting - 1,
      ...more,
    };
  }

  private some<T>(list: readonly T[]): T[] {
    const kept = list.filter(() => this.chance(50));
    return kept.length ? kept : [this.pick(list)];
  }

  /* Parameters. */

  private view(name: string, element: ElementType, shape: readonly number[], indices = false): void {
    const token = view(TOKENS[element], shape.length as Rank);
    this.params.set(name, { kind: "view", token, element, shape, layout: this.chance(75) ? "right" : "left", indices });
  }

  private inputs(place: Place, shape: readonly number[], indices: readonly string[]): void {
    for (const type of NUMERIC) {
      const tag = TAG[type];
      this.view(`x${tag}`, type, shape);
      const shift = indices.map(() => this.below(3));
      place.sources.push({
        type,
        parts: [`x${tag}${indices.map((i, a) => (shift[a] ? `[${i} + ${shift[a]}]` : `[${i}]`)).join("")}`],
        args: [],
      });
      this.view(`p${tag}`, type, [POOL]);
      place.arrays.push({ name: `p${tag}`, type, length: POOL, writable: false });
      this.params.set(`s${tag}`, { kind: "scalar", token: TOKENS[type], type, value: this.pick(SCALARS[type]) });
      place.variables.push({ name: `s${tag}`, type, assignable: false });
    }
    const type = this.pick(NUMERIC);
    this.view("grid", type, [ROWS, COLUMNS]);
    place.sources.push({ type, parts: ["grid[", "][", "]"], args: [{ index: ROWS }, { index: COLUMNS }] });
    this.view("bytes", "u8", shape);
    place.sources.push({ type: "i32", parts: [`bytes${indices.map((i) => `[${i}]`).join("")}`], args: [] });
    this.view("at", "i32", [shape[shape.length - 1]], true);
    const gathered = this.pick(NUMERIC);
    place.sources.push({ type: gathered, parts: [`p${TAG[gathered]}[at[${indices[indices.length - 1]}]]`], args: [] });
    place.sources.push({ type: "i32", parts: [`p${TAG[gathered]}.length`], args: [] });
    this.params.set("sb", { kind: "scalar", token: bool, type: "bool", value: this.chance(50) });
    place.variables.push({ name: "sb", type: "bool", assignable: false });
    this.params.set("order", { kind: "fixed", token: fixed(i32), type: "i32", value: 1 + this.below(4) });
    place.variables.push({ name: "order", type: "i32", assignable: false });
    this.params.set("weights", {
      kind: "table",
      token: table(f64, [
        [0.5, -1.25, 3],
        [1e-3, -0, 7.5],
      ]),
    });
    place.sources.push({ type: "f64", parts: ["weights[", "][", "]"], args: [{ index: 2 }, { index: 3 }] });
    this.params.set("offsets", { kind: "table", token: table(i32, [0, -1, 5, 2147483647]) });
    place.sources.push({ type: "i32", parts: ["offsets[", "]"], args: [{ index: 4 }] });
    this.params.set("mulhi", { kind: "mulhi" });
  }

  /** Helpers: an expression, statements with early returns, several results, an array by reference. */
  private helpers(place: Place): void {
    for (let n = this.below(3); n > 0; n--) {
      const name = this.name("h");
      const result = this.pick(NUMERIC),
        types = Array.from({ length: 1 + this.below(2) }, () => this.pick(NUMERIC));
      const names = types.map(() => this.name("a"));
      const scope = this.inner(this.place([]), {
        variables: names.map((a, k): Variable => ({ name: a, type: types[k], assignable: true })),
        returns: result,
        depth: 2,
        nesting: 1,
      });
      const parts: Part[] = this.chance(40)
        ? [`(${names.join(", ")}) => `, this.expressions.strong(result, scope, 2)]
        : [
            `function ${name}(${names.join(", ")}) `,
            block([...this.statements(scope, 1 + this.below(3)), stmt("return ", this.expressions.strong(result, scope, 2), ";")]),
          ];
      this.params.set(name, { kind: "helper", parts });
      place.sources.push({ type: result, parts: [`${name}(`, ...types.slice(1).map(() => ", "), ")"], args: types });
    }
  }

  private foldTargets(): void {
    const type = this.pick(NUMERIC);
    const wide = this.pick(NUMERIC.slice(0, 3));
    const tokens = {
      total: sum(TOKENS[type]),
      least: min(TOKENS[type]),
      greatest: max(TOKENS[type]),
      product: reducer(f64, 1, this.pick(COMBINES)),
    };
    for (const [name, token] of Object.entries(tokens)) this.params.set(name, { kind: "reduce", token });
    for (const [name, op] of [
      ["hist", this.pick(["sum", "min", "max"] as const)],
      ["bins", "sum"],
    ] as const) {
      const rank = name === "bins" ? 2 : 1;
      this.params.set(name, {
        kind: "scatter",
        token: scatter(TOKENS[wide], rank, op),
        element: wide,
        shape: rank === 1 ? [POOL] : [ROWS, COLUMNS],
        layout: "right",
        indices: false,
      });
    }
  }

  private fold(place: Place): Stmt {
    const name = this.pick(["total", "least", "greatest", "product"]);
    const { token } = this.params.get(name) as { token: ReduceToken };
    return stmt(`${name}.${METHODS[token.op]}(`, this.expressions.of(token.type, place, place.depth), ");");
  }

  private scatter(place: Place): Stmt {
    const name = this.pick(["hist", "bins"]);
    const { token, shape } = this.params.get(name) as { token: ScatterToken; shape: readonly number[] };
    const indices = shape.flatMap((n): Part[] => [this.expressions.index(n, place, 1), ", "]);
    return stmt(`${name}.${METHODS[token.op]}(`, ...indices, this.expressions.of(token.element, place, place.depth), ");");
  }

  /* Statements. */

  /** Statements, and what they declare added to the place. */
  private statements(place: Place, count: number): Stmt[] {
    const stmts: Stmt[] = [];
    for (let n = 0; n < count; n++) stmts.push(...this.statement(place));
    return stmts;
  }

  /** A local that hides one of the enclosing block. */
  private shadow(place: Place): Stmt[] {
    const hidden = place.variables.filter((v) => v.assignable && !v.name.includes("["));
    if (!hidden.length) return [];
    const { name, type } = this.pick(hidden);
    place.variables = place.variables.filter((v) => v.name !== name);
    const init = this.expressions.strong(type, place, 1);
    place.variables.push({ name, type, assignable: true });
    return [stmt(`let ${name} = `, init, ";")];
  }

  private body(place: Place, more: Partial<Place> = {}): Block {
    const inner = this.inner(place, more);
    return block([...(this.chance(12) ? this.shadow(inner) : []), ...this.statements(inner, 1 + this.below(3))]);
  }

  private statement(place: Place): Stmt[] {
    const { depth } = place;
    const nested = place.nesting > 0;
    switch (this.below(nested ? 20 : 12)) {
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
        const { type, place: at } = this.pick(place.outputs);
        const operator = type === "f64" && this.chance(50) ? this.pick(["+=", "-=", "*="]) : "=";
        return [stmt(`${at} ${operator} `, this.expressions.of(type, place, depth), ";")];
      }
      case 8:
        return place.folds ? [this.fold(place)] : this.assignment(place);
      case 9:
        return place.folds ? [this.scatter(place)] : this.assignment(place);
      case 10: {
        const condition = (): Expr => this.expressions.of("bool", place, 2);
        if (place.inLoop && this.chance(70)) return [jump(condition(), this.pick(["break", "continue"]))];
        if (place.returns === "none" || !this.chance(50)) return this.declaration(place);
        if (place.returns === "void") return [jump(condition(), "return")];
        return [stmt("if (", condition(), ") return ", this.expressions.strong(place.returns, place, 1), ";")];
      }
      case 11:
        return this.closure(place);
      case 12:
      case 13:
      case 14:
      case 15: {
        const condition = this.expressions.of("bool", place, 2);
        const then = this.body(place);
        return [this.chance(60) ? stmt("if (", condition, ") ", then, " else ", this.body(place)) : stmt("if (", condition, ") ", then)];
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

  private declaration(place: Place): Stmt[] {
    const type = this.pick([...NUMERIC, "f64", "i32", "bool"] as const);
    const name = this.name("v"),
      assignable = this.chance(70);
    const init = this.expressions.strong(type, place, place.depth);
    place.variables.push({ name, type, assignable });
    return [stmt(`${assignable ? "let" : "const"} ${name} = `, init, ";")];
  }

  private assignment(place: Place): Stmt[] {
    const targets = place.variables.filter((v) => v.assignable);
    if (!targets.length) return this.declaration(place);
    const { name, type } = this.pick(targets);
    const others = targets.filter((v) => v.type === type && v.name !== name);
    if (others.length && this.chance(15)) return [stmt(`[${name}, ${others[0].name}] = [${others[0].name}, ${name}];`)];
    const operator = type === "f64" ? this.pick(["=", "=", "+=", "*=", "-="]) : "=";
    return [stmt(`${name} ${operator} `, this.expressions.strong(type, place, place.depth), ";")];
  }

  private arrayStatement(place: Place): Stmt[] {
    const arrays = place.arrays.filter((a) => a.writable);
    if (!arrays.length || this.chance(30)) {
      const type = this.pick(NUMERIC),
        name = this.name("b"),
        length = this.pick([2, 4, 4, 8]);
      place.arrays.push({ name, type, length, writable: true });
      return [stmt(`const ${name} = new ${CLASSES[type]}(${length});`)];
    }
    const array = this.pick(arrays);
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
  private tuple(place: Place): Stmt[] {
    const types = [this.pick(NUMERIC), this.pick(NUMERIC)];
    const names = types.map(() => this.name("v"));
    const values = types.map((type) => this.expressions.strong(type, place, 2));
    const declared = types.map((type, n): Variable => ({ name: names[n], type, assignable: false }));
    switch (this.below(3)) {
      case 0:
        place.variables.push(...declared);
        return [stmt(`const [${names.join(", ")}] = [`, values[0], ", ", values[1], "];")];
      case 1:
        place.variables.push(...declared);
        return [stmt(`const { a: ${names[0]}, b: ${names[1]} } = { a: `, values[0], ", b: ", values[1], " };")];
      default: {
        const list = this.name("q");
        place.variables.push(...types.map((type, n): Variable => ({ name: `${list}[${n}]`, type, assignable: true })));
        return [stmt(`let ${list} = [`, values[0], ", ", values[1], "];")];
      }
    }
  }

  /** A function inside the kernel that changes a local around it, so that the order of evaluation shows. */
  private closure(place: Place): Stmt[] {
    const targets = place.variables.filter((v) => v.assignable && !v.name.includes("["));
    if (!targets.length || !place.effects || place.nesting < 1) return this.assignment(place);
    const { name: target, type } = this.pick(targets);
    const name = this.name("f"),
      argument = this.name("a");
    const scope = this.inner(place, {
      effects: false,
      variables: [...place.variables, { name: argument, type: "f64", assignable: false }],
    });
    scope.sources = scope.sources.filter((s) => s.args.every((a) => typeof a !== "string"));
    const value = this.expressions.strong(type as NumericType, scope, 2);
    if (type !== "bool") place.sources.push({ type, parts: [`${name}(`, ")"], args: ["f64"] });
    return [stmt(`const ${name} = (${argument}) => `, block([stmt(`${target} = `, value, ";"), stmt(`return ${target};`)]), ";")];
  }

  private countedLoop(place: Place): Stmt[] {
    const k = this.name("k");
    const turns = 1 + this.below(4);
    const fixedTurns = place.variables.some((v) => v.name === "order") ? "order" : "4";
    const header: { parts: Part[]; bound?: number } = this.pick([
      () => ({ parts: [`for (let ${k} = 0; ${k} < ${turns}; ${k}++) `], bound: turns }),
      () => ({ parts: [`for (let ${k} = 0; ${k} < ${fixedTurns}; ${k}++) `], bound: 4 }),
      () => ({ parts: [`for (let ${k} = ${turns}; ${k} >= 0; ${k} -= 2) `], bound: turns + 1 }),
      () => ({ parts: [`for (let ${k} = (`, this.expressions.index(3, place, 1), `) | 0; ${k} <= 3; ${k} += 1) `], bound: 4 }),
      () => ({ parts: [`for (let ${k} = 0; ${k} < (`, this.expressions.strong("i32", place, 1), ` & 3); ${k}++) `], bound: 3 }),
    ])();
    const body = this.inner(place, { inLoop: true });
    body.variables.push({ name: k, type: "i32", assignable: false, bound: header.bound });
    return [...this.accumulator(place, body), stmt(...header.parts, block(this.statements(body, 1 + this.below(3))))];
  }

  /** A sum that starts from a bare literal. */
  private accumulator(place: Place, body: Place): Stmt[] {
    if (!this.chance(40)) return [];
    const name = this.name("w"),
      type = this.pick(["f64", "i32"] as const);
    const value = this.expressions.strong(type, place, 2);
    for (const scope of [place, body]) scope.variables.push({ name, type, assignable: true });
    return [stmt(`let ${name} = 0;`), type === "f64" ? stmt(`${name} += `, value, ";") : stmt(`${name} = (${name} + `, value, ") | 0;")];
  }

  /** A loop whose body changes its counter or what it counts to. */
  private changingLoop(place: Place): Stmt[] {
    const k = this.name("k"),
      n = this.name("n");
    const inner: Partial<Place> = { inLoop: true };
    const condition = (): Expr => this.expressions.of("bool", place, 2);
    const counter: Variable = { name: k, type: "i32", assignable: false, bound: 8 };
    const body = this.body(place, { ...inner, variables: [...place.variables, counter] });
    if (this.chance(50))
      return [stmt(`for (let ${k} = 0; ${k} < 4; ${k}++) `, block([stmt("if (", condition(), `) ${k} += 1;`), stmt(body)]))];
    return [
      stmt(`let ${n} = 4;`),
      stmt(`for (let ${k} = 0; ${k} < ${n}; ${k}++) `, block([stmt("if (", condition(), `) ${n} -= 1;`), stmt(body)])),
    ];
  }

  private whileLoop(place: Place): Stmt[] {
    const t = this.name("t");
    const turns = 1 + this.below(4);
    const condition = this.expressions.of("bool", place, 2);
    const counter: Variable = { name: t, type: "i32", assignable: false, bound: turns + 1 };
    const body = this.body(place, { inLoop: true, variables: [...place.variables, counter] });
    const counted = block([stmt(`${t}++;`), stmt(body)]);
    if (this.chance(50)) return [stmt(`let ${t} = 0;`), stmt(`while (${t} < ${turns} && `, condition, ") ", counted)];
    return [stmt(`let ${t} = 0;`), stmt("do ", counted, ` while (${t} < ${turns} && `, condition, ");")];
  }

  /* Teams. */

  private teamStatement(place: Place, rows: readonly { name: string; type: NumericType }[]): Stmt[] {
    const j = this.name("j");
    const count = this.pick([String(WIDTH), "7", "team.index + 3", "1", "0", "33"]);
    const member = (): Place => {
      const inner = this.inner(place, { effects: false, depth: 2 });
      // What is declared outside a shared loop cannot be assigned inside.
      inner.variables = inner.variables.map((v) => ({ ...v, assignable: false }));
      inner.arrays = inner.arrays.map((a) => ({ ...a, writable: false }));
      inner.outputs = [];
      inner.variables.push({ name: j, type: "i32", assignable: false });
      return inner;
    };
    switch (this.below(8)) {
      case 0:
        return this.declaration(place);
      case 1:
        return [this.fold(place)];
      case 2:
      case 3: {
        const op = this.pick(["sum", "min", "max"]),
          name = this.name("v");
        const type = this.faithful ? "f64" : this.pick(NUMERIC);
        const value = this.expressions.strong(type, member(), 3);
        place.variables.push({ name, type, assignable: false });
        return [stmt(`const ${name} = team.${op}(${count}, (${j}) => `, value, ");")];
      }
      case 4: {
        const name = this.name("r"),
          inner = member();
        const stmts = this.statements({ ...inner, effects: true }, 1);
        const a = this.expressions.strong("f64", inner, 2),
          b = this.expressions.strong("f64", inner, 2),
          guard = this.expressions.of("bool", inner, 2);
        const body = block([...stmts, stmt("if (", guard, ") r.a.add(", a, ");"), stmt("r.b.max(", b, ");")]);
        place.variables.push({ name: `${name}.a`, type: "f64", assignable: false }, { name: `${name}.b`, type: "f64", assignable: false });
        return [stmt(`const ${name} = team.reduce(${count}, { a: "sum", b: "max" }, (${j}, r) => `, body, ");")];
      }
      case 5: {
        const type = this.pick(NUMERIC),
          name = this.name("c");
        const value = this.expressions.of(type, member(), 2);
        const late = this.expressions.strong(type, place, 1);
        place.arrays.push({ name, type, length: 16, writable: false });
        const fill = stmt(`team.range(16, (${j}) => `, block([stmt(`${name}[${j}] = `, value, ";")]), ");");
        const single = stmt("team.single(() => ", block([stmt(`${name}[${this.below(16)}] = `, late, ";")]), ");");
        return [stmt(`const ${name} = team.scratch("${type}", 16);`), fill, ...(this.chance(50) ? [single] : [])];
      }
      default: {
        const inner = { ...member(), effects: true };
        const { name, type } = this.pick(rows);
        const at = `${name}[team.index][${j}]`;
        inner.outputs = [{ type, place: at }];
        inner.sources = [...inner.sources, { type, parts: [at], args: [] }];
        inner.returns = "void";
        const stmts = this.statements(inner, 1 + this.below(3));
        const folded = this.chance(40) ? [this.scatter(inner)] : [];
        return [
          stmt(
            `team.range(${count}, (${j}) => `,
            block([...stmts, ...folded, stmt(`${at} = `, this.expressions.of(type, inner, 2), ";")]),
            ");",
          ),
        ];
      }
    }
  }
}

const METHODS = { sum: "add", min: "min", max: "max", custom: "merge" } as const;
const CLASSES: Record<NumericType, string> = { f64: "Float64Array", f32: "Float32Array", i32: "Int32Array", u32: "Uint32Array" };
const SCALARS: Record<NumericType, readonly number[]> = {
  f64: [0.1, -2.5, 0, -0, NaN, 1e200, -Infinity],
  f32: [0.5, -2.75, 0, -0, 16777216].map(Math.fround),
  i32: [0, 1, -1, 7, -2147483648],
  u32: [0, 1, 7, 4294967295],
};
const COMBINES: readonly ((a: number, b: number) => number)[] = [
  (a, b) => a * b,
  (a, b) => a + 0.5 * b,
  (a, b) => (b > a ? b : a),
  (a, b) => Math.max(a, b),
];
