import type * as acorn from "acorn";

const isFunction = (type: string): boolean =>
  type === "FunctionExpression" || type === "ArrowFunctionExpression" || type === "FunctionDeclaration";

/** Calls `visit` for each node directly below, with the property that holds it; without lists of them, as trees are walked often. */
export function eachChild(node: acorn.Node, visit: (child: acorn.Node, property: string) => void): void {
  for (const key in node) {
    const value: unknown = node[key as keyof acorn.Node];
    if (Array.isArray(value)) {
      for (const child of value) if (isNode(child)) visit(child, key);
    } else if (isNode(value)) visit(value, key);
  }
}

const isNode = (value: unknown): value is acorn.Node =>
  typeof value === "object" && value !== null && typeof (value as acorn.Node).type === "string";

/** Visits a syntax tree; the functions inside it only if asked to. */
export function walkSyntax(node: acorn.Node, visit: (node: acorn.AnyNode) => void, intoFunctions = false): void {
  visit(node as acorn.AnyNode);
  eachChild(node, (child) => {
    if (intoFunctions || !isFunction(child.type)) walkSyntax(child, visit, intoFunctions);
  });
}

/** A name or a member of a member of one, `m.wave`, also as bundlers call it, `(0, m.wave)`; undefined for all else. */
export function pathOf(node: acorn.Node): string | undefined {
  const n = node as acorn.AnyNode;
  if (n.type === "Identifier") return n.name;
  if (n.type === "SequenceExpression") return pathOf(n.expressions[n.expressions.length - 1]);
  if (n.type !== "MemberExpression") return undefined;
  const name = n.computed ? stringOf(n.property) : n.property.type === "Identifier" ? n.property.name : undefined;
  const object = n.object.type === "SequenceExpression" ? undefined : pathOf(n.object);
  return object !== undefined && name !== undefined && !name.includes(".") ? `${object}.${name}` : undefined;
}

/** The text of a string that is written out; minifiers write it as a template. */
export function stringOf(node: acorn.Node | undefined): string | undefined {
  const written = node as acorn.AnyNode | undefined;
  if (written?.type === "TemplateLiteral")
    return written.expressions.length === 0 ? (written.quasis[0].value.cooked ?? undefined) : undefined;
  return written?.type === "Literal" && typeof written.value === "string" ? written.value : undefined;
}

function some(node: acorn.Node, test: (node: acorn.AnyNode) => boolean): boolean {
  let found = false;
  walkSyntax(node, (n) => (found ||= test(n)));
  return found;
}

/** The same function of nodes, which remembers what it found: code is asked the same each time that it is inlined. */
function remembered<T>(find: (node: acorn.Node) => T): (node: acorn.Node) => T {
  const known = new WeakMap<acorn.Node, { readonly value: T }>();
  return (node) => {
    let found = known.get(node);
    if (!found) known.set(node, (found = { value: find(node) }));
    return found.value;
  };
}

/** True if the function that holds the node may return there, or has a loop with a label: what `structure` makes plain. */
export const jumps = remembered((node) => some(node, (n) => n.type === "ReturnStatement" || n.type === "LabeledStatement"));

/** False for async functions and generators. */
export const isPlainFunction = ({ async, generator }: { readonly async: boolean; readonly generator: boolean }): boolean =>
  !async && !generator;

/** True if control never reaches the end of the statement, because it returns or loops until it does. */
export function alwaysReturns(node: acorn.Statement | acorn.ModuleDeclaration): boolean {
  switch (node.type) {
    case "ReturnStatement":
      return true;
    case "BlockStatement":
      return node.body.some(alwaysReturns);
    case "IfStatement":
      return !!node.alternate && alwaysReturns(node.consequent) && alwaysReturns(node.alternate);
    case "ForStatement":
    case "WhileStatement": {
      const forever = !node.test || (node.test.type === "Literal" && node.test.value === true);
      return forever && !some(node.body, (n) => n.type === "BreakStatement" || (n.type === "ContinueStatement" && !!n.label));
    }
    case "LabeledStatement":
      return alwaysReturns(node.body);
    case "SwitchStatement": {
      const { cases } = node;
      const last = cases.length - 1;
      const returns = cases.every(({ consequent }, n) => (n < last && consequent.length === 0) || consequent.some(alwaysReturns));
      return returns && cases.some(({ test }) => !test) && !some(node, (n) => n.type === "BreakStatement");
    }
    // Any other statement goes on to the next.
    default:
      return false;
  }
}

/** True where the function takes something apart, and calls the part of that name by it. */
export function bindsAs(code: acorn.Node, name: string): boolean {
  let found = false;
  walkSyntax(
    code,
    (n) => {
      if (n.type !== "ObjectPattern") return;
      found ||= n.properties.some((p) => p.type === "Property" && !p.computed && pathOf(p.key) === name && pathOf(p.value) === name);
    },
    true,
  );
  return found;
}

/** Every name in a piece of code; of a pattern, more than it binds where it has defaults. */
export const namesOf = remembered((code): ReadonlySet<string> => {
  const names = new Set<string>();
  walkSyntax(code, (n) => n.type === "Identifier" && names.add(n.name), true);
  return names;
});

export const mentions = (code: acorn.Node, name: string): boolean => namesOf(code).has(name);
