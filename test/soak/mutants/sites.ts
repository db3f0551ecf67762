import { parse, type Node } from "acorn";

/** One change to a compiled module. */
export interface Mutation {
  /** Characters that are replaced: from, to. */
  readonly from: number;
  readonly to: number;
  readonly by: string;
  /** Start of the code whose execution the change affects. */
  readonly executedAt: number;
  readonly line: number;
  /** Such as `"<" becomes "<="`. */
  readonly what: string;
}

/** A compiled module and all its changes. */
export interface MutableModule {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly code: string;
  readonly mutations: readonly Mutation[];
}

/** What an operator becomes: another one of the same form whose result differs for some operands. */
const OPERATORS: Readonly<Record<string, string>> = {
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "%": "*",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "&": "|",
  "|": "&",
  "<<": ">>",
  ">>": "<<",
  ">>>": "<<",
  "+=": "-=",
  "-=": "+=",
  "*=": "+=",
  "||=": "&&=",
};

/** What a node of acorn's tree may have. */
type Tree = Node & {
  readonly [key: string]: unknown;
  readonly test?: Tree | null;
  readonly left?: Tree;
  readonly right?: Tree;
  readonly argument?: Tree;
  readonly operator?: string;
  readonly value?: unknown;
};

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && typeof (value as Tree).type === "string";

/** Whether an expression makes text, in which a `+` joins. */
const isText = ({ type, value, left, right, operator }: Tree): boolean =>
  type === "TemplateLiteral" ||
  (type === "Literal" && typeof value === "string") ||
  (type === "BinaryExpression" && operator === "+" && [left, right].some((side) => side !== undefined && isText(side)));

/** All changes of operators, numbers, truth values and conditions in a module, and all statements that may be left out. Messages of errors stay. */
export function mutationsOf(code: string): Mutation[] {
  const found: Mutation[] = [];
  const lineAt = (position: number): number => code.slice(0, position).split("\n").length;
  const add = (from: number, to: number, by: string, what: string, executedAt = from): void =>
    void found.push({ from, to, by, executedAt, line: lineAt(from), what });

  const negate = ({ start, end }: Tree): void => {
    const text = code.slice(start, end);
    add(start, end, `!(${text})`, `${short(text)} becomes its opposite`);
  };
  const replaceOperator = ({ left, right, operator = "" }: Tree): void => {
    const other = OPERATORS[operator];
    if (other === undefined || !left || !right || (operator === "+" && (isText(left) || isText(right)))) return;
    const from = code.indexOf(operator, left.end);
    // The engine counts the right side of "&&" from its operator on.
    add(from, from + operator.length, other, `"${operator}" becomes "${other}" in ${short(code.slice(left.start, right.end))}`, left.start);
  };
  const leaveOut = ({ start, end }: Tree): void => add(start, end, ";", `${short(code.slice(start, end))} is left out`);

  const visit = (node: Tree): void => {
    switch (node.type) {
      case "ThrowStatement":
      case "ImportDeclaration":
      case "ExportAllDeclaration":
        return;
      case "BinaryExpression":
      case "LogicalExpression":
      case "AssignmentExpression":
        replaceOperator(node);
        break;
      case "IfStatement":
      case "ConditionalExpression":
      case "WhileStatement":
        if (node.test) negate(node.test);
        break;
      case "UnaryExpression":
        if (node.operator === "!") add(node.start, node.start + 1, "", `"!" is left out`);
        break;
      case "ExpressionStatement":
      case "BreakStatement":
      case "ContinueStatement":
        if (node.directive === undefined) leaveOut(node);
        break;
      case "Literal":
        if (typeof node.value === "number") {
          const other = node.value === 0 ? "1" : String(node.value + 1);
          add(node.start, node.end, other, `${code.slice(node.start, node.end)} becomes ${other}`);
        } else if (typeof node.value === "boolean")
          add(node.start, node.end, String(!node.value), `${String(node.value)} becomes its opposite`);
        break;
    }
    for (const value of Object.values(node))
      for (const child of Array.isArray(value) ? (value as unknown[]) : [value]) if (isTree(child)) visit(child);
  };
  const program: unknown = parse(code, { ecmaVersion: "latest", sourceType: "module" });
  if (isTree(program)) visit(program);
  return found;
}

/** A text on one line, cut where it is long. */
function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 77)}...` : line;
}

export const mutated = (code: string, { from, to, by }: Mutation): string => code.slice(0, from) + by + code.slice(to);
