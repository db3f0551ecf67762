import { block, inside, stmt, type Context, type Dice } from "./context.js";
import { bool, type Expressions } from "./expressions.js";
import type { Expr, Part, Stmt } from "./program.js";

/** How text says a counter's type, its limits, and places near which loops begin and end; `n` is a constant of the type. */
const TYPES = {
  i32: {
    wrapped: (text: string): string => `((${text}) | 0)`,
    limits: ["-2147483648", "2147483647"],
    places: (n: string) => [`((2147483647 - (${n} & 7)) | 0)`, `((-2147483648 + (${n} & 7)) | 0)`, `((2147483645 + (${n} & 3)) | 0)`, n],
  },
  u32: {
    wrapped: (text: string): string => `((${text}) >>> 0)`,
    limits: ["0", "4294967295"],
    places: (n: string) => [`((4294967295 - (${n} % 8)) >>> 0)`, `(${n} % 8)`, `((2147483644 + (${n} % 8)) >>> 0)`, n],
  },
} as const;

/** The greatest ones leave the type within a few turns from anywhere. */
const STEPS = ["1", "1", "1", "2", "5", "1073741824", "2147483647"];

/** Writes loops that begin and end near a limit of their counter's type, for a few turns. */
export class Counters {
  constructor(
    private readonly dice: Dice,
    private readonly expressions: Expressions,
  ) {}

  /** A loop with what its bounds are near; `body` writes what it repeats. */
  loop(place: Context, body: (inner: Context) => Stmt[]): Stmt[] {
    const { dice } = this;
    const type = dice.pick(["i32", "u32"] as const);
    const { wrapped, limits, places } = TYPES[type];
    const [k, n, t] = [dice.name("k"), dice.name("n"), dice.name("t")];
    const base = dice.pick(places(n));
    const [low, high] = [wrapped(`${base} - ${dice.below(5)}`), wrapped(`${base} + ${3 + dice.below(7)}`)];
    const up = dice.chance(60);
    const step = dice.pick(STEPS);
    const inner = inside(place, { inLoop: true });
    // A constant: what the body changes could keep the loop going for 2^31 turns, unless the turns are limited.
    const before = [stmt(`const ${n} = `, this.expressions.strong(type, place, 0), ";")];
    let stop: string = up ? high : low;
    const limited = dice.chance(50);
    if (limited && dice.chance(40)) stop = limits[up ? 1 : 0];
    else if (limited && dice.chance(30)) {
      const changing = dice.name("n");
      before.push(stmt(`let ${changing} = ${stop};`));
      inner.variables.push({ name: changing, type, assignable: true });
      stop = changing;
    }
    inner.variables.push({ name: k, type, assignable: false });
    const tests = this.tests(place, inner, this.end(k, stop, up), limited ? t : undefined);
    // js-debug reports that the last step of a counter that others may read wraps.
    const outside = !this.expressions.faithful && dice.chance(30);
    const turns = limited ? `${t} = 0` : undefined;
    const start = `${k} = ${up ? low : high}`;
    if (outside) before.push(stmt(`let ${[start, turns].filter(Boolean).join(", ")};`));
    const declared = outside ? "" : `let ${[start, turns].filter(Boolean).join(", ")}`;
    return [...before, stmt(`for (${declared}; `, ...tests, `; ${this.update(k, step, up)}) `, block(body(inner)))];
  }

  private update(k: string, step: string, up: boolean): string {
    const sign = up ? "+" : "-";
    const ways = [`${k} ${sign}= ${step}`, `${k} = ${k} ${sign} ${step}`];
    return this.dice.pick(step === "1" ? [`${k}${sign}${sign}`, `${sign}${sign}${k}`, ...ways] : ways);
  }

  private end(k: string, stop: string, up: boolean): string {
    const equal = this.dice.pick(["", "=", "="]);
    return this.dice.chance(70) ? `${k} ${up ? "<" : ">"}${equal} ${stop}` : `${stop} ${up ? ">" : "<"}${equal} ${k}`;
  }

  /** The tests of each turn in any order: the end, the greatest number of turns, and one that may change something or read the counter. */
  private tests(place: Context, inner: Context, end: string, turns: string | undefined): Part[] {
    const { dice } = this;
    const tests: (string | Expr)[] = [end];
    const most = String(2 + dice.below(5));
    if (turns !== undefined)
      tests.splice(dice.below(2), 0, dice.pick([`${turns}++ < ${most}`, `(${turns} += 1) <= ${most}`, `++${turns} <= ${most}`]));
    if (dice.chance(40)) {
      // Beyond its limit a counter has no value here, and in JavaScript it does: nothing that lasts may come of it.
      const test = dice.chance(50)
        ? this.expressions.of("bool", place, 1)
        : this.expressions.of("bool", { ...inner, effects: false, sources: inner.sources.filter((s) => s.args.length === 0) }, 1);
      tests.splice(dice.below(tests.length + 1), 0, bool`(${test})`);
    }
    return tests.flatMap((test, at): Part[] => (at > 0 ? [" && ", test] : [test]));
  }
}
