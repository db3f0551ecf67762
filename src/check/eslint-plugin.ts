import {
  isRefusedSyntax,
  NO_RECURSION,
  NOT_NUMBER,
  NOT_PLAIN,
  NULLISH,
  RANDOM,
  refusedSyntax,
  type RefusedWith,
} from "../kernel/read/refused-syntax.js";

/*
 * A plugin for ESLint 9 and for oxlint. Linters see no types, so it reports what no kernel has, whatever its types; `isoform check` reports the rest.
 */

/** A node of ESTree, as much as is looked at. */
interface LintNode {
  readonly type: string;
  readonly [part: string]: unknown;
}

interface LintContext {
  report(problem: { readonly node: LintNode; readonly message: string }): void;
}

type LintVisitor = Readonly<Record<string, (node: LintNode) => void>>;

const FUNCTIONS = new Set(["ArrowFunctionExpression", "FunctionExpression", "FunctionDeclaration"]);
const MAKERS = new Set(["kernel", "teamKernel", "helper", "reducer"]);
const METHODS = new Set(["container", "scalarStep"]);

const isNode = (value: unknown): value is LintNode => typeof (value as LintNode | null)?.type === "string";

/** Nodes within a node. */
function childrenOf(node: LintNode): LintNode[] {
  const parts = Object.entries(node).flatMap(([name, part]) => (name === "parent" ? [] : part));
  return parts.filter(isNode);
}

/** Syntax that kernels do not have, in kernels of a file and in the functions that they list. */
class KernelSyntax {
  /** Functions by their names; undefined of a name that several have. */
  private readonly functions = new Map<string, LintNode | undefined>();
  private readonly makers = new Set<string>();
  private readonly namespaces = new Set<string>();
  private readonly seen = new Set<LintNode>();

  constructor(private readonly report: (node: LintNode, refused: RefusedWith) => void) {}

  check(program: LintNode): void {
    this.declare(program);
    this.find(program);
  }

  /** Notes what is imported from Isoform, and functions with names. */
  private declare(node: LintNode): void {
    if (node.type === "ImportDeclaration") this.imported(node);
    if (node.type === "FunctionDeclaration" && isNode(node.id)) this.named(node.id.name as string, node);
    if (node.type === "VariableDeclarator" && isNode(node.id) && isNode(node.init)) {
      const made = node.init.type === "CallExpression" && this.isMaker(node.init) ? (node.init.arguments as LintNode[])[0] : node.init;
      if (made && FUNCTIONS.has(made.type) && node.id.type === "Identifier") this.named(node.id.name as string, made);
    }
    childrenOf(node).forEach((child) => this.declare(child));
  }

  private named(name: string, fn: LintNode): void {
    this.functions.set(name, this.functions.has(name) ? undefined : fn);
  }

  private imported({ source, specifiers }: LintNode): void {
    if (!/^isoform(\/|$)/.test(String((source as LintNode).value))) return;
    for (const { type, imported, local } of specifiers as LintNode[]) {
      const name = (local as LintNode).name as string;
      if (type === "ImportNamespaceSpecifier") this.namespaces.add(name);
      if (isNode(imported) && MAKERS.has(String(imported.name ?? imported.value))) this.makers.add(name);
    }
  }

  private isMaker({ callee }: LintNode): boolean {
    const { type, name, object, property } = callee as LintNode;
    if (type === "Identifier") return this.makers.has(name as string);
    return (
      type === "MemberExpression" &&
      this.namespaces.has((object as LintNode).name as string) &&
      MAKERS.has((property as LintNode).name as string)
    );
  }

  /** Finds calls that make kernels, and follows their functions. */
  private find(node: LintNode): void {
    if (node.type === "CallExpression") {
      const args = node.arguments as LintNode[];
      const { callee } = node as unknown as { callee: LintNode };
      const isMethod = callee.type === "MemberExpression" && METHODS.has((callee.property as LintNode).name as string);
      const fns = this.isMaker(node) ? args : isMethod && args.length >= 3 ? args.slice(2) : [];
      for (const fn of fns) this.follow(fn);
    }
    childrenOf(node).forEach((child) => this.find(child));
  }

  /** A function, a name of one, or a list of captures. */
  private follow(node: LintNode): void {
    if (node.type === "Identifier") {
      const fn = this.functions.get(node.name as string);
      if (fn) this.follow(fn);
      return;
    }
    if (!FUNCTIONS.has(node.type) || this.seen.has(node)) return;
    this.seen.add(node);
    if (isNode(node.body) && node.body.type === "ArrayExpression")
      return (node.body.elements as (LintNode | null)[]).forEach((each) => each && this.follow(each));
    if (node.async || node.generator) this.report(node, NOT_PLAIN);
    this.walk(node.body as LintNode, this.nameOf(node));
  }

  private nameOf(fn: LintNode): string | undefined {
    return [...this.functions].find(([, known]) => known === fn)?.[0];
  }

  private walk(node: LintNode, self: string | undefined): void {
    const refused = this.refusedIn(node, self);
    if (refused) return this.report(node, refused);
    if (FUNCTIONS.has(node.type) && (node.async || node.generator)) return this.report(node, NOT_PLAIN);
    childrenOf(node).forEach((child) => this.walk(child, self));
  }

  private refusedIn(node: LintNode, self: string | undefined): RefusedWith | undefined {
    if (isRefusedSyntax(node.type)) return refusedSyntax(node.type);
    if (node.type === "LogicalExpression" && node.operator === "??") return NULLISH;
    if (node.type === "TemplateLiteral" && (node.expressions as unknown[]).length > 0) return refusedSyntax(node.type);
    if (node.type === "CallExpression") {
      const { type, name, object, property } = node.callee as LintNode;
      if (type === "Identifier" && name === self) return [`${self} calls itself`, NO_RECURSION];
      if (type === "MemberExpression" && (object as LintNode).name === "Math" && (property as LintNode).name === "random") return RANDOM;
    }
    const text = textOperand(node);
    return text === undefined ? undefined : [`${text} is not a number`, NOT_NUMBER];
  }
}

/** A text where a number belongs; others name types and folds for teams. */
function textOperand({ type, left, right, init }: LintNode): string | undefined {
  const operands =
    type === "BinaryExpression" ? [left, right] : type === "VariableDeclarator" ? [init] : type === "AssignmentExpression" ? [right] : [];
  const literal = operands.find((each) => isNode(each) && each.type === "Literal" && typeof each.value === "string") as
    | LintNode
    | undefined;
  return literal && String(literal.raw);
}

const rule = {
  meta: {
    type: "problem",
    docs: { description: "disallow syntax that kernels do not have" },
    schema: [],
  },
  create: (context: LintContext): LintVisitor => ({
    Program: (program) =>
      new KernelSyntax((node, [problem, remedy]) => context.report({ node, message: `${problem} (${remedy})` })).check(program),
  }),
};

/** The plugin of linters: `import isoform from "isoform/eslint-plugin"`, then `{ plugins: { isoform }, rules: { "isoform/kernel": "error" } }`. */
const plugin = { meta: { name: "isoform" }, rules: { kernel: rule } };

export default plugin;
