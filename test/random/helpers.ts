import { NUMERIC, type Expressions, type Variable } from "./expressions.js";
import type { Parameters } from "./parameters.js";
import { TAG } from "./parameters.js";
import { block, inside, contextOf, stmt, type Dice, type Context } from "./context.js";
import type { Part } from "./program.js";
import type { Statements } from "./statements.js";

/** Declares helper functions: an expression, statements with early returns, two results, an array by reference. */
export function declareHelpers(dice: Dice, expressions: Expressions, statements: Statements, params: Parameters, place: Context): void {
  const scopeOf = (variables: readonly Variable[], more: Partial<Context> = {}): Context =>
    inside(contextOf([]), { variables: [...variables], depth: 2, nesting: 1, ...more });

  for (let n = dice.below(3); n > 0; n--) {
    const name = dice.name("h");
    const result = dice.pick(NUMERIC);
    const types = Array.from({ length: 1 + dice.below(2) }, () => dice.pick(NUMERIC));
    const names = types.map(() => dice.name("a"));
    const scope = scopeOf(
      names.map((a, k) => ({ name: a, type: types[k], assignable: true })),
      { returns: result },
    );
    const value = (): Part => expressions.strong(result, scope, 2);
    const list = `(${names.join(", ")})`;
    const parts: Part[] = dice.chance(40)
      ? [`${list} => `, value()]
      : [`function ${name}${list} `, block([...statements.some(scope), stmt("return ", value(), ";")])];
    params.helper(name, parts);
    place.sources.push({ type: result, parts: [`${name}(`, ...types.slice(1).map(() => ", "), ")"], args: types });
  }

  const pairScope = scopeOf([{ name: "a", type: "f64", assignable: true }]);
  const pair = (): Part[] => ["return [", expressions.strong("i32", pairScope, 2), ", ", expressions.strong("f64", pairScope, 2), "];"];
  params.helper("pair", ["(a) => ", block([stmt("if (", expressions.of("bool", pairScope, 2), ") ", ...pair()), stmt(...pair())])]);

  for (const type of NUMERIC) {
    const scope = scopeOf([
      { name: "v", type, assignable: false },
      { name: "b[k]", type, assignable: false },
    ]);
    const step = stmt("b[k] = ", expressions.strong(type, { ...scope, effects: false }, 2), ";");
    params.helper(`fill${TAG[type]}`, ["(b, v) => ", block([stmt("for (let k = 0; k < b.length; k++) ", block([step]))])]);
  }
}
