import { cooked, quasiAt, regexAt, tokenAt, type Token } from "./tokens.js";

export type Node = { type: string; start: number; end: number } & Record<string, unknown>;
export type Start = Pick<Token, "start">;

/** How tightly operators bind; `**` is apart, as it groups from the right. */
const PRECEDENCE: ReadonlyMap<string, number> = new Map(
  ["?? ||", "&&", "|", "^", "&", "== != === !==", "< > <= >= in instanceof", "<< >> >>>", "+ -", "* / %"].flatMap((operators, n) =>
    operators.split(" ").map((operator): [string, number] => [operator, n + 1]),
  ),
);
const LOGICAL = new Set(["??", "||", "&&"]);
const PREFIXES = new Set(["+", "-", "!", "~", "typeof", "void", "delete"]);
const ASSIGNMENTS = new Set("= += -= *= /= %= **= <<= >>= >>>= &= |= ^= &&= ||= ??=".split(" "));
const VALUES: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };
const SHORTHAND = new Set([",", "}", "=", "(", ":"]);

/** Tokens, nodes and expressions; statements are for the class that knows them. */
export abstract class ExpressionParser {
  protected token: Token;
  /** End of the previous token. */
  private last = 0;
  private readonly lines: readonly number[];
  /** `in` is part of the head of a loop. */
  protected noIn = false;
  private generator = false;

  constructor(
    private readonly text: string,
    at: number,
  ) {
    this.lines = [0, ...Array.from(text.matchAll(/\r\n|[\n\r\u2028\u2029]/g), ({ 0: end, index }) => index + end.length)];
    this.token = tokenAt(text, at);
  }

  /* Tokens. */

  protected next(): Token {
    const { token } = this;
    this.last = token.end;
    this.token = tokenAt(this.text, token.end);
    return token;
  }

  protected is(text: string): boolean {
    const { kind } = this.token;
    return this.token.text === text && (kind === "mark" || kind === "name");
  }

  protected take(text: string): boolean {
    const found = this.is(text);
    if (found) this.next();
    return found;
  }

  protected expect(text: string): void {
    if (!this.take(text)) this.fail();
  }

  private fail(): never {
    throw new SyntaxError(`unexpected "${this.token.text}"`);
  }

  protected peek(): Token {
    return tokenAt(this.text, this.token.end);
  }

  /** The end of a statement, which may be left out. */
  protected semicolon(): void {
    if (!this.take(";") && !this.is("}") && this.token.kind !== "end" && !this.token.onNewLine) this.fail();
  }

  /* Nodes. */

  /** A node from `begin` to the last token. */
  protected node({ start }: Start, type: string, parts: Record<string, unknown>): Node {
    return { type, start, end: this.last, loc: { start: this.position(start), end: this.position(this.last) }, ...parts };
  }

  private position(at: number): { line: number; column: number } {
    let [low, high] = [0, this.lines.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.lines[middle] <= at) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: at - this.lines[low] };
  }

  /** A function's body. */
  protected abstract block(): Node;

  /* Expressions. */

  expression(): Node {
    const begin = this.token;
    const first = this.assignment();
    if (!this.is(",")) return first;
    const expressions = [first];
    while (this.take(",")) expressions.push(this.assignment());
    return this.node(begin, "SequenceExpression", { expressions });
  }

  protected assignment(): Node {
    const begin = this.token;
    if (this.generator && this.is("yield")) return this.yielded();
    const async = this.is("async") && !this.peek().onNewLine && this.peek().kind === "name" && this.peek().text !== "function";
    if (async || (begin.kind === "name" && this.peek().text === "=>")) {
      if (async) this.next();
      const parameter = this.identifier();
      return this.arrow(begin, [parameter], async);
    }
    const left = this.conditional();
    const { text } = this.token;
    if (this.token.kind !== "mark" || !ASSIGNMENTS.has(text)) return left;
    this.next();
    const target = text === "=" ? asPattern(left) : left;
    return this.node(begin, "AssignmentExpression", { operator: text, left: target, right: this.assignment() });
  }

  private yielded(): Node {
    const begin = this.next();
    const delegate = this.take("*");
    const ends = [")", "]", "}", ",", ";", ":"].some((mark) => this.is(mark)) || this.token.onNewLine || this.token.kind === "end";
    return this.node(begin, "YieldExpression", { delegate, argument: !delegate && ends ? null : this.assignment() });
  }

  private conditional(): Node {
    const begin = this.token;
    const test = this.binary(0);
    if (!this.take("?")) return test;
    const consequent = this.withIn(() => this.assignment());
    this.expect(":");
    return this.node(begin, "ConditionalExpression", { test, consequent, alternate: this.assignment() });
  }

  private binary(least: number): Node {
    const begin = this.token;
    let left = this.unary();
    for (;;) {
      const { kind, text: operator } = this.token;
      const precedence = kind === "mark" || kind === "name" ? (PRECEDENCE.get(operator) ?? 0) : 0;
      if (precedence <= least || (operator === "in" && this.noIn)) return left;
      this.next();
      const right = this.binary(precedence);
      left = this.node(begin, LOGICAL.has(operator) ? "LogicalExpression" : "BinaryExpression", { left, operator, right });
    }
  }

  private unary(): Node {
    const begin = this.token;
    const { kind, text: operator } = begin;
    if (kind === "mark" && (operator === "++" || operator === "--")) {
      this.next();
      return this.node(begin, "UpdateExpression", { operator, prefix: true, argument: this.unary() });
    }
    if ((kind === "mark" || kind === "name") && PREFIXES.has(operator)) {
      this.next();
      return this.node(begin, "UnaryExpression", { operator, prefix: true, argument: this.unary() });
    }
    if (this.is("await") && !this.peek().onNewLine && /^(name|number|string)$|^mark[([{`]$/.test(this.peekKind())) {
      this.next();
      return this.node(begin, "AwaitExpression", { argument: this.unary() });
    }
    let base = this.postfix(begin);
    if (this.take("**")) base = this.node(begin, "BinaryExpression", { left: base, operator: "**", right: this.unary() });
    return base;
  }

  private peekKind(): string {
    const { kind, text } = this.peek();
    return kind === "mark" ? kind + text : kind;
  }

  private postfix(begin: Token): Node {
    const argument = this.chain(begin);
    if (this.token.onNewLine || !(this.is("++") || this.is("--"))) return argument;
    const operator = this.next().text;
    return this.node(begin, "UpdateExpression", { operator, prefix: false, argument });
  }

  /** Members and calls after a value. */
  private chain(begin: Token): Node {
    let [object, chained] = [this.primary(), false];
    for (;;) {
      const optional = this.take("?.");
      chained ||= optional;
      if (this.is("[") || this.is(".") || (optional && !this.is("(") && !this.is("`"))) object = this.member(begin, object, optional);
      else if (this.is("(")) {
        const args = this.arguments();
        if (object.type === "Identifier" && object.name === "async" && this.is("=>") && !optional)
          return this.arrow(begin, args.map(asPattern), true);
        object = this.node(begin, "CallExpression", { callee: object, arguments: args, optional });
      } else if (this.is("`")) object = this.node(begin, "TaggedTemplateExpression", { tag: object, quasi: this.template() });
      else return chained ? this.node(begin, "ChainExpression", { expression: object }) : object;
    }
  }

  private member(begin: Start, object: Node, optional: boolean): Node {
    if (this.take("[")) {
      const property = this.withIn(() => this.expression());
      this.expect("]");
      return this.node(begin, "MemberExpression", { object, property, computed: true, optional });
    }
    this.take(".");
    const property = this.token.kind === "private" ? this.privateName() : this.identifier();
    return this.node(begin, "MemberExpression", { object, property, computed: false, optional });
  }

  private arguments(): Node[] {
    this.expect("(");
    return this.list(")", () => this.spreadOr(() => this.assignment())) as Node[];
  }

  /** Elements up to a mark, which it takes; holes are null. */
  private list(close: string, element: () => Node): (Node | null)[] {
    const elements: (Node | null)[] = [];
    this.withIn(() => {
      while (!this.take(close)) {
        elements.push(this.is(",") ? null : element());
        if (!this.is(close)) this.expect(",");
      }
    });
    return elements;
  }

  private spreadOr(otherwise: () => Node): Node {
    const begin = this.token;
    return this.take("...") ? this.node(begin, "SpreadElement", { argument: this.assignment() }) : otherwise();
  }

  protected primary(): Node {
    const begin = this.token;
    const { kind, text } = begin;
    if (kind === "number" || kind === "string") return this.literal();
    if (kind === "private") return this.privateName();
    if (kind === "name") return this.word(begin, text);
    switch (text) {
      case "(":
        return this.parenthesised(begin);
      case "[":
        this.next();
        return this.node(begin, "ArrayExpression", { elements: this.list("]", () => this.spreadOr(() => this.assignment())) });
      case "{":
        return this.object(begin);
      case "`":
        return this.template();
      case "/":
      case "/=":
        return this.regex(begin);
      // Any other sign is refused.
      default:
        return this.fail();
    }
  }

  private word(begin: Token, text: string): Node {
    if (Object.hasOwn(VALUES, text)) {
      this.next();
      return this.node(begin, "Literal", { value: VALUES[text], raw: text });
    }
    switch (text) {
      case "this":
      case "super":
        this.next();
        return this.node(begin, text === "this" ? "ThisExpression" : "Super", {});
      case "function":
        return this.function(begin, "FunctionExpression", false);
      case "async":
        if (this.peek().text !== "function" || this.peek().onNewLine) return this.identifier();
        this.next();
        return this.function(begin, "FunctionExpression", true);
      case "class":
        return this.class("ClassExpression");
      case "new":
        return this.created(begin);
      case "import":
        return this.imported(begin);
      // Any other word is a name.
      default:
        return this.identifier();
    }
  }

  private literal(): Node {
    const { kind, text } = this.token;
    const begin = this.next();
    if (kind === "string") return this.node(begin, "Literal", { value: cooked(text.slice(1, -1)), raw: text });
    const digits = text.replaceAll("_", "");
    if (!digits.endsWith("n")) return this.node(begin, "Literal", { value: Number(digits), raw: text });
    const bigint = digits.slice(0, -1);
    return this.node(begin, "Literal", { value: BigInt(bigint), raw: text, bigint });
  }

  private regex(begin: Token): Node {
    const raw = regexAt(this.text, begin.start);
    if (raw === "") this.fail();
    const end = raw.lastIndexOf("/");
    const [pattern, flags] = [raw.slice(1, end), raw.slice(end + 1)];
    this.token = { ...begin, text: raw, end: begin.start + raw.length };
    this.next();
    return this.node(begin, "Literal", { value: new RegExp(pattern, flags), raw, regex: { pattern, flags } });
  }

  private template(): Node {
    const begin = this.token;
    const [quasis, expressions]: Node[][] = [[], []];
    let at = begin.end;
    for (;;) {
      const raw = quasiAt(this.text, at);
      const start = at;
      at += raw.length;
      const tail = this.text[at] === "`";
      this.last = at;
      quasis.push(this.node({ start }, "TemplateElement", { value: { raw, cooked: cooked(raw) }, tail }));
      this.token = tail ? { ...begin, end: at + 1 } : { ...begin, end: at + 2 };
      this.next();
      if (tail) return this.node(begin, "TemplateLiteral", { expressions, quasis });
      expressions.push(this.withIn(() => this.expression()));
      if (!this.is("}")) this.fail();
      at = this.token.end;
    }
  }

  /** An expression in parentheses, or the parameters of an arrow function. */
  private parenthesised(begin: Token): Node {
    this.next();
    const inner = this.token;
    const items = this.list(")", () => this.spreadOr(() => this.assignment())) as Node[];
    const end = this.last;
    if (this.is("=>") && !this.token.onNewLine) return this.arrow(begin, items.map(asPattern), false);
    if (items.length === 0) this.fail();
    if (items.length === 1) return items[0];
    this.last = items.at(-1)!.end;
    const sequence = this.node(inner, "SequenceExpression", { expressions: items });
    this.last = end;
    return sequence;
  }

  private arrow(begin: Start, params: readonly Node[], async: boolean): Node {
    this.expect("=>");
    const expression = !this.is("{");
    const body = this.inFunction(false, () => (expression ? this.assignment() : this.block()), expression);
    return this.node(begin, "ArrowFunctionExpression", { id: null, expression, generator: false, async, params, body });
  }

  protected function(begin: Start, type: string, async: boolean): Node {
    this.expect("function");
    const generator = this.take("*");
    const id = this.is("(") ? null : this.identifier();
    return this.functionFrom(begin, type, { id, expression: false, generator, async });
  }

  private functionFrom(begin: Start, type: string, parts: { generator: boolean } & Record<string, unknown>): Node {
    const params = this.arguments().map(asPattern);
    const body = this.inFunction(parts.generator, () => this.block());
    return this.node(begin, type, { ...parts, params, body });
  }

  private object(begin: Start): Node {
    this.next();
    return this.node(begin, "ObjectExpression", { properties: this.list("}", () => this.spreadOr(() => this.property())) });
  }

  private property(): Node {
    const begin = this.token;
    const modifier = (word: string): boolean => {
      if (!this.is(word) || SHORTHAND.has(this.peek().text)) return false;
      this.next();
      return true;
    };
    const async = modifier("async");
    const accessor = modifier("get") ? "get" : modifier("set") ? "set" : undefined;
    const generator = this.take("*");
    const computed = this.is("[");
    const key = this.key();
    const parts = { method: false, shorthand: false, computed, key };
    if (accessor || this.is("(")) {
      const value = this.functionFrom(this.token, "FunctionExpression", { id: null, expression: false, generator, async });
      return this.node(begin, "Property", { ...parts, method: !accessor, value, kind: accessor ?? "init" });
    }
    if (this.take(":")) return this.node(begin, "Property", { ...parts, value: this.assignment(), kind: "init" });
    const name = { ...key };
    const value = this.take("=") ? this.node(begin, "AssignmentPattern", { left: name, right: this.assignment() }) : name;
    return this.node(begin, "Property", { ...parts, shorthand: true, value, kind: "init" });
  }

  private key(): Node {
    if (this.take("[")) {
      const key = this.withIn(() => this.assignment());
      this.expect("]");
      return key;
    }
    return this.token.kind === "number" || this.token.kind === "string" ? this.literal() : this.identifier();
  }

  private created(begin: Start): Node {
    const meta = this.identifier();
    if (this.take(".")) return this.node(begin, "MetaProperty", { meta, property: this.identifier() });
    const start = this.token;
    let callee = this.primary();
    while (this.is(".") || this.is("[")) callee = this.member(start, callee, false);
    return this.node(begin, "NewExpression", { callee, arguments: this.is("(") ? this.arguments() : [] });
  }

  private imported(begin: Start): Node {
    const meta = this.identifier();
    if (this.take(".")) return this.node(begin, "MetaProperty", { meta, property: this.identifier() });
    const [source, options = null] = this.arguments();
    return this.node(begin, "ImportExpression", { source, options });
  }

  protected identifier(): Node {
    if (this.token.kind !== "name") this.fail();
    const begin = this.next();
    return this.node(begin, "Identifier", { name: begin.text });
  }

  private privateName(): Node {
    const begin = this.next();
    return this.node(begin, "PrivateIdentifier", { name: begin.text.slice(1) });
  }

  /** A class, whose inside is not looked at. */
  protected class(type: string): Node {
    const begin = this.next();
    const id = this.token.kind === "name" && !this.is("extends") ? this.identifier() : null;
    const superClass = this.take("extends") ? this.chain(this.token) : null;
    if (!this.is("{")) this.fail();
    for (let depth = 0; ;) {
      const { text, kind } = this.token;
      if (kind === "end") this.fail();
      if (text === "`") this.template();
      else this.next();
      if (kind === "mark" && text === "{") depth++;
      if (kind === "mark" && text === "}" && --depth === 0) break;
    }
    return this.node(begin, type, { id, superClass });
  }

  /* Parsing inside brackets, where `in` is allowed. */

  private withIn<T>(parse: () => T): T {
    const before = this.noIn;
    this.noIn = false;
    const made = parse();
    this.noIn = before;
    return made;
  }

  private inFunction<T>(generator: boolean, parse: () => T, keepIn = false): T {
    const before = this.generator;
    this.generator = generator;
    const made = keepIn ? parse() : this.withIn(parse);
    this.generator = before;
    return made;
  }
}

/** Expressions that turn out to be what is assigned to or declared. */
export function asPattern(node: Node): Node {
  switch (node.type) {
    case "ArrayExpression":
      return { ...node, type: "ArrayPattern", elements: (node.elements as (Node | null)[]).map((each) => each && asPattern(each)) };
    case "ObjectExpression":
      return { ...node, type: "ObjectPattern", properties: (node.properties as Node[]).map(asPattern) };
    case "Property":
      return { ...node, value: asPattern(node.value as Node) };
    case "SpreadElement":
      return { ...node, type: "RestElement", argument: asPattern(node.argument as Node) };
    case "AssignmentExpression": {
      const { operator: _, ...parts } = node;
      return { ...(parts as Node), type: "AssignmentPattern", left: asPattern(node.left as Node) };
    }
    // Any other node is a pattern already.
    default:
      return node;
  }
}
