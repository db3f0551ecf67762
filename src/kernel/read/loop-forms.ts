import type * as acorn from "acorn";
import { assignedNames } from "./reassigned.js";
import { eachChild, mentions } from "./syntax.js";

/** A `for` loop whose update steps a variable by a constant, and one of whose tests compares it with a stop. */
export interface SteppedForm {
  readonly name: string;
  /** The loop's own declaration of the variable, with a first value. */
  readonly declared?: acorn.VariableDeclaration;
  readonly stop: acorn.Expression;
  /** The loop runs for the stop itself, too. */
  readonly inclusive: boolean;
  readonly step: number;
  /** Tests of each turn, in order, as in `k < n && x[k] > 0`. Minifiers make such tests of breaks. */
  readonly tests: readonly acorn.Expression[];
  /** Which of them compares the variable with the stop. */
  readonly at: number;
}

/** A loop by constant steps that nothing else in it changes. */
export interface CountedForm extends SteppedForm {
  readonly declared: acorn.VariableDeclaration;
  /** Tests other than the one against the stop. */
  readonly conditions: readonly acorn.Expression[];
}

/** The form of a loop's head; undefined if it is another. */
export function steppedForm({ init, test, update }: acorn.ForStatement): SteppedForm | undefined {
  if (!test || !update) return undefined;
  const updated = update.type === "UpdateExpression" ? update.argument : update.type === "AssignmentExpression" ? update.left : undefined;
  if (updated?.type !== "Identifier") return undefined;
  const { name } = updated;
  const isCounter = (n: acorn.Node): boolean => n.type === "Identifier" && (n as acorn.Identifier).name === name;
  const step = stepOf(update, isCounter);
  if (!step) return undefined;
  const tests = conjuncts(test);
  const ends = tests.map((each) => endOf(each, step, isCounter));
  const at = ends.findIndex((end) => end !== undefined);
  if (at < 0) return undefined;
  const { stop, inclusive } = ends[at]!;
  if (mentions(stop, name)) return undefined;
  const declared = init?.type === "VariableDeclaration" && init.declarations.some((d) => isCounter(d.id) && d.init) ? init : undefined;
  return { name, declared, stop, inclusive, step, tests, at };
}

/** The same if nothing but the update changes the variable. */
export function countedForm(node: acorn.ForStatement): CountedForm | undefined {
  const form = steppedForm(node);
  if (!form?.declared) return undefined;
  const { name, declared, inclusive, step, tests, at } = form;
  // Earlier tests are made after the one against the stop: a difference shows only if they change something.
  if (tests.slice(0, at).some(hasEffects)) return undefined;
  const conditions = tests.filter((_, n) => n !== at);
  // By ones to below the stop, a variable does not wrap: with more conditions that is the faster loop.
  if (conditions.length > 0 && Math.abs(step) === 1 && !inclusive) return undefined;
  if ([node.body, ...conditions].some((part) => assignedNames(part).has(name))) return undefined;
  return { ...form, declared, conditions };
}

/** Whether evaluating an expression may change something: it assigns, or calls a function that is not one of `Math`. */
export function hasEffects(node: acorn.Node): boolean {
  if (node.type === "AssignmentExpression" || node.type === "UpdateExpression") return true;
  if (node.type === "CallExpression") {
    const { callee } = node as acorn.CallExpression;
    if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier" || callee.object.name !== "Math") return true;
  }
  let found = false;
  eachChild(node, (child) => (found ||= hasEffects(child)));
  return found;
}

/** Operands of a chain of `&&`, in the order in which they are evaluated. */
const conjuncts = (test: acorn.Expression): acorn.Expression[] =>
  test.type === "LogicalExpression" && test.operator === "&&" ? [...conjuncts(test.left), ...conjuncts(test.right)] : [test];

/** Stop of a loop in a test that compares its counter with it, in the direction of the steps. */
function endOf(
  test: acorn.Expression,
  step: number,
  isCounter: (n: acorn.Node) => boolean,
): Pick<SteppedForm, "stop" | "inclusive"> | undefined {
  if (test.type !== "BinaryExpression" || test.left.type === "PrivateIdentifier") return undefined;
  const [stop, operator] = isCounter(test.left) ? [test.right, test.operator] : [test.left, FLIPPED[test.operator]];
  if (stop === test.left && !isCounter(test.right)) return undefined;
  const fits = step > 0 ? operator === "<" || operator === "<=" : operator === ">" || operator === ">=";
  return fits ? { stop, inclusive: operator.endsWith("=") } : undefined;
}

const FLIPPED: Record<string, string> = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

/** c of `k += c`, `k -= c`, `k = k + c`, `k++` and their kin. */
function stepOf(update: acorn.Expression, isCounter: (n: acorn.Node) => boolean): number | undefined {
  if (update.type === "UpdateExpression") return update.operator === "++" ? 1 : -1;
  if (update.type !== "AssignmentExpression") return undefined;
  let { right, operator }: { right: acorn.Expression; operator: string } = update;
  if (operator === "=" && right.type === "BinaryExpression" && isCounter(right.left))
    [right, operator] = [right.right, `${right.operator}=`];
  const size = right.type === "Literal" ? right.value : undefined;
  if (typeof size !== "number" || !Number.isInteger(size) || size <= 0 || size >= 2 ** 31) return undefined;
  return operator === "+=" ? size : operator === "-=" ? -size : undefined;
}
