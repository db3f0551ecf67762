import type { NumberType } from "../../src/ir/types.js";
import fc from "fast-check";
import { range, teams, type RangePolicy, type TeamPolicy } from "../../src/device/launch/policy.js";
import { Expressions, NUMERIC } from "./expressions.js";
import { declareHelpers } from "./helpers.js";
import { Parameters, TAG } from "./parameters.js";
import { block, Dice, contextOf, stmt, type Context } from "./context.js";
import { smaller, type Program, type Stmt } from "./program.js";
import { STYLES } from "./styles.js";
import { Statements } from "./statements.js";
import { DEPTH, TeamStatements, WIDTH, type Plane, type Row } from "./teams.js";

/** Random kernels, sound and free of races by construction, that shrink by losing statements and subexpressions. */
export class KernelPrograms extends fc.Arbitrary<Program> {
  override generate(random: fc.Random): fc.Value<Program> {
    return new fc.Value(new Generator(new Dice({ below: (n) => random.nextInt(0, n - 1) })).program(), undefined);
  }
  override canShrinkWithoutContext(value: unknown): value is Program {
    return value !== undefined;
  }
  override shrink(value: Program): fc.Stream<fc.Value<Program>> {
    return new fc.Stream(smaller(value)).map((p) => new fc.Value(p, undefined));
  }
}

class Generator {
  private readonly params: Parameters;
  private readonly faithful: boolean;
  private readonly expressions: Expressions;
  private readonly statements: Statements;

  constructor(private readonly dice: Dice) {
    this.faithful = dice.chance(75);
    this.params = new Parameters(dice, this.faithful);
    this.expressions = new Expressions(dice.choices, this.faithful);
    this.statements = new Statements(dice, this.expressions, this.params);
  }

  program(): Program {
    return this.dice.chance(18) ? this.teamProgram() : this.rangeProgram();
  }

  private rangeProgram(): Program {
    const policy = this.rangePolicy();
    const indices = ["i", "j", "k", "l"].slice(0, policy.extents.length);
    const place: Context = { ...contextOf(indices), returns: "void" };
    const ends = policy.extents.map((n, axis) => n + policy.begin[axis]);
    this.declare("range", place, ends, indices);
    const stmts = [1, 2, 3].slice(this.dice.below(3)).flatMap(() => this.statements.some(place));
    return this.finish(place, [...stmts, ...this.groups(ends, indices)], policy, indices);
  }

  /** Pairs of neighbouring elements, of groups of four, that are read under conditions of their own. */
  private groups(ends: readonly number[], indices: readonly string[]): Stmt[] {
    const { dice } = this;
    if (!dice.chance(12)) return [];
    const type = dice.pick(["f64", "f32", "i32"] as const);
    const [i, n] = [indices.at(-1)!, Math.max(ends.at(-1)!, 1)];
    this.params.view("groups", type, [4 * n]);
    this.params.view("pairs", type, [...ends.slice(0, -1).map((end) => Math.max(end, 1)), 2 * n]);
    const place = `pairs${indices
      .slice(0, -1)
      .map((index) => `[${index}]`)
      .join("")}`;
    const [a, b] = [dice.name("g"), dice.name("g")];
    const pair = (at: number): string => `{ ${a} = groups[4 * ${i} + ${at}]; ${b} = groups[4 * ${i} + ${at + 1}]; }`;
    return [
      stmt(`let ${a} = s${TAG[type]};`),
      stmt(`let ${b} = s${TAG[type]};`),
      stmt(`if (${i} < ${1 + dice.below(n)}) ${pair(0)}`),
      stmt(`if (${i} > ${dice.below(n)}) ${pair(2)}`),
      stmt(`${place}[2 * ${i}] = ${a};`),
      stmt(`${place}[2 * ${i} + 1] = ${b};`),
    ];
  }

  private rangePolicy(): RangePolicy {
    const { dice } = this;
    const upTo = (n: number): number => 1 + dice.below(n);
    // A few are large enough for several threads and several chunks of a reduction's chunks.
    const large = [() => [2048 + dice.below(2000)], () => [upTo(8), 400 + dice.below(300)]];
    const small = [
      () => [upTo(40)],
      () => [upTo(40)],
      () => [upTo(40)],
      () => [upTo(5), upTo(24)],
      () => [upTo(5), upTo(24)],
      () => dice.pick([[200 + dice.below(500)], [2, 250 + dice.below(40)]]),
      () => [upTo(3), upTo(4), upTo(18)],
      () => [upTo(2), 2, upTo(3), upTo(9)],
      () => [dice.below(3)],
    ];
    const extents = dice.pick(dice.chance(3) ? large : small)();
    const begin = extents.map(() => (dice.chance(40) ? dice.below(4) : 0));
    return range(...extents.map((n, axis): [number, number] => [begin[axis], begin[axis] + n]));
  }

  private teamProgram(): Program {
    const beside = this.dice.chance(25);
    const league = beside ? 4 * (1 + this.dice.below(2)) : 1 + this.dice.below(6);
    const place: Context = { ...contextOf(["team.index"]), effects: false };
    this.declare("team", place, [league], ["team.index"]);
    const rows = this.dice.some(NUMERIC).map((type): Row => ({ name: `m${TAG[type]}`, type }));
    for (const { name, type } of rows) this.params.view(name, type as NumberType, [league, WIDTH]);
    const planes = this.dice.some(NUMERIC).map((type): Plane => ({ name: `q${TAG[type]}`, type }));
    for (const { name, type } of planes) this.params.view(name, type as NumberType, [league, WIDTH, DEPTH]);
    const members = new TeamStatements(this.dice, this.expressions, this.statements, this.faithful, planes, beside);
    const stmts = members.some(place, rows, 3 + this.dice.below(4));
    const size = this.dice.pick([undefined, undefined, 1, 8, 64]);
    return this.finish(place, stmts, teams(league, beside ? { size: 8, abreast: 4 } : { size }), ["team"]);
  }

  private declare(policy: "range" | "team", place: Context, ends: readonly number[], indices: readonly string[]): void {
    const inputs = ends.map((n) => n + 2),
      outputs = ends.map((n) => Math.max(n, 1));
    this.params.inputs(place, inputs, indices);
    this.params.outputs(place, outputs, indices);
    this.params.inexact(place, outputs, indices);
    this.params.folds();
    if (policy === "range" && this.dice.chance(40)) this.params.atomics();
    declareHelpers(this.dice, this.expressions, this.statements, this.params, place);
    if (this.dice.chance(35)) this.params.composites(place, outputs, indices);
    place.kernel = true;
  }

  /**
   * Functions that are not exact, of exact arguments. Nothing reads their results, which may differ in the last places, and are compared
   * accordingly.
   */
  private functions(place: Context): Stmt[] {
    if (!place.inexact.length || !this.dice.chance(30)) return [];
    return this.dice
      .some(place.inexact)
      .map(({ type, element }) => stmt(`${element} = `, this.expressions.inexact(type as NumberType, place), ";"));
  }

  /** Each output gets a value in the end, so that most of what is computed shows. */
  private finish(place: Context, stmts: Stmt[], policy: RangePolicy | TeamPolicy, indices: readonly string[]): Program {
    const stores = place.outputs.map(({ type, element: at }) =>
      stmt(`${at} = `, this.dice.chance(2) ? this.expressions.deep(type as NumberType, place) : this.expressions.of(type, place, 3), ";"),
    );
    return {
      params: this.params.all,
      indices,
      body: block([...stmts, ...stores, ...this.functions(place)]),
      style: this.dice.chance(70) ? "plain" : this.dice.pick(STYLES),
      policy,
      data: this.dice.below(1 << 30),
      faithful: this.faithful,
    };
  }
}
