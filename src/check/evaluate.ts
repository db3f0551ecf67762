import type ts from "typescript";
import { Choices } from "./choices.js";
import { isFunctionSyntax, standIn, syntaxOf, type FunctionSyntax } from "./functions.js";
import { helper, type Captures } from "../kernel/declare/captures.js";
import { applyOperator, isPureMethod, PURE_GLOBALS } from "./pure.js";
import { ownValue } from "./own-values.js";
import { UnknownValue, type ProgramNames } from "./scope.js";
import { TypeReader, valueOfType } from "./type-values.js";

/* Values of expressions that are known without running the program: numbers, lists, objects, functions, and what Isoform's own declarations make of them. */

/** Values of a function's parameters while it is followed. */
type Given = ReadonlyMap<ts.Symbol, unknown>;
const NOTHING_GIVEN: Given = new Map();

/** Expressions within expressions, at most. */
const DEEPEST = 200;

/** A member of an object. */
interface Part {
  readonly name: string;
  readonly node: ts.Expression | undefined;
  readonly type: ts.Type;
  /** Present where an object of the library is spread. */
  readonly value?: unknown;
}

export class Evaluator {
  /** Lists of captures whose values are not asked for yet. */
  private readonly pending: (() => unknown)[] = [];
  private readonly known = new Map<ts.Node, unknown>();
  private depth = 0;
  /** Stands for what callers choose, where no call tells it. */
  readonly choices = new Choices();

  constructor(readonly names: ProgramNames) {}

  private get api(): ProgramNames["api"] {
    return this.names.api;
  }

  /** Forgets values that depend on which call gives the parameters. */
  forget(): void {
    this.known.clear();
    this.pending.length = 0;
  }

  /** Asks for the values of all lists of captures so far. Throws UnknownValue. */
  settle(): void {
    while (this.pending.length > 0) this.pending.pop()!();
  }

  /** Value of an expression; of its type where it says enough. Throws UnknownValue. */
  valueOf(node: ts.Expression): unknown {
    try {
      return this.evaluate(node, NOTHING_GIVEN);
    } catch (error) {
      if (!(error instanceof UnknownValue)) throw error;
      const value = valueOfType(this.typesAt(node), this.names.checker.getTypeAtLocation(node));
      if (value === undefined) throw new UnknownValue(node.getText());
      return value;
    }
  }

  valueOfType(type: ts.Type, at: ts.Node, text: string): unknown {
    const value = valueOfType(this.typesAt(at), type);
    if (value === undefined) throw new UnknownValue(text);
    return value;
  }

  /** Reads types as they are at a node. */
  typesAt(at: ts.Node): TypeReader {
    return new TypeReader(this.api, this.names.checker, at, this.choices);
  }

  /** Members of an object: as expressions where it is written out, and their types. */
  partsOf(node: ts.Expression): Part[] {
    const { checker } = this.names;
    const members = this.membersOf(node);
    if (members) return [...members].map(([name, member]) => ({ name, node: member, type: checker.getTypeAtLocation(member) }));
    const written = bare(this.api, node);
    // Members that are written out beside others that are not
    const beside = this.api.isObjectLiteralExpression(written) ? written.properties : [];
    const spread = beside.flatMap((each) => (this.api.isSpreadAssignment(each) ? [this.ownObject(each.expression)] : []));
    return checker
      .getTypeAtLocation(node)
      .getProperties()
      .map(({ name }, n, all) => {
        const property = beside.findLast((each) => each.name?.getText() === name);
        const initializer =
          property &&
          (this.api.isPropertyAssignment(property)
            ? property.initializer
            : this.api.isShorthandPropertyAssignment(property)
              ? property.name
              : undefined);
        const value = initializer ? undefined : spread.findLast((object) => Object.hasOwn(object, name))?.[name];
        return { name, node: initializer, type: checker.getTypeOfSymbolAtLocation(all[n], node), value };
      });
  }

  /** Members of an object that the library exports, such as `random`; none of another expression. */
  private ownObject(node: ts.Expression): Readonly<Record<string, unknown>> {
    const name = this.names.ownName(node);
    const value = name === undefined ? undefined : ownValue(name);
    return typeof value === "object" && value ? (value as Record<string, unknown>) : {};
  }

  /** Members of an object that is written out, by name, not yet evaluated; undefined for other expressions. */
  membersOf(node: ts.Expression): ReadonlyMap<string, ts.Expression> | undefined {
    const object = this.written(node);
    if (!object || !this.api.isObjectLiteralExpression(object)) return undefined;
    const found = new Map<string, ts.Expression>();
    for (const property of object.properties) {
      if (this.api.isSpreadAssignment(property)) {
        const spread = this.membersOf(property.expression);
        if (!spread) return undefined;
        for (const [name, value] of spread) found.set(name, value);
      } else if (this.api.isPropertyAssignment(property) && isPlainName(this.api, property.name))
        found.set(property.name.text, property.initializer);
      else if (this.api.isShorthandPropertyAssignment(property)) found.set(property.name.text, property.name);
      else return undefined;
    }
    return found;
  }

  /** The expression that a name stands for, through constants, parameters and assertions. */
  private written(node: ts.Expression): ts.Expression | undefined {
    const { api, names } = this;
    for (let at: ts.Expression | undefined = node, n = 0; at && n < DEEPEST; n++) {
      at = bare(api, at);
      if (!api.isIdentifier(at)) return at;
      const declaration: ts.Declaration | undefined = names.symbolOf(at)?.valueDeclaration;
      if (!declaration) return undefined;
      if (api.isVariableDeclaration(declaration) && isConst(api, declaration) && api.isIdentifier(declaration.name))
        at = declaration.initializer;
      else if (api.isParameter(declaration) && api.isIdentifier(declaration.name)) at = names.argumentFor(declaration);
      else return undefined;
    }
    return undefined;
  }

  private evaluate(node: ts.Expression, given: Given): unknown {
    if (this.depth > DEEPEST) return unknown(node);
    this.depth++;
    try {
      return this.evaluateBare(bare(this.api, node), given);
    } finally {
      this.depth--;
    }
  }

  private evaluateBare(node: ts.Expression, given: Given): unknown {
    const { api } = this;
    if (api.isNumericLiteral(node)) return Number(node.text);
    if (api.isStringLiteralLike(node)) return node.text;
    if (node.kind === api.SyntaxKind.TrueKeyword || node.kind === api.SyntaxKind.FalseKeyword)
      return node.kind === api.SyntaxKind.TrueKeyword;
    if (api.isIdentifier(node)) return this.name(node, given);
    if (isFunctionSyntax(api, node)) return this.standIn(node);
    if (api.isPropertyAccessExpression(node)) return this.member(node, given);
    if (api.isElementAccessExpression(node))
      return own(this.evaluate(node.expression, given), this.evaluate(node.argumentExpression, given), node);
    if (api.isArrayLiteralExpression(node)) return this.list(node.elements, given);
    if (api.isObjectLiteralExpression(node)) return this.object(node, given);
    if (api.isCallExpression(node)) return this.call(node, given);
    if (api.isNewExpression(node)) return this.made(node, given);
    return this.computed(node, given);
  }

  private computed(node: ts.Expression, given: Given): unknown {
    const { api } = this;
    if (api.isConditionalExpression(node))
      return this.evaluate(this.evaluate(node.condition, given) ? node.whenTrue : node.whenFalse, given);
    if (api.isPrefixUnaryExpression(node)) return applyOperator(api, node.operator, [this.evaluate(node.operand, given)]) ?? unknown(node);
    if (api.isTemplateExpression(node))
      return node.templateSpans.reduce(
        (text, span) => text + String(this.evaluate(span.expression, given)) + span.literal.text,
        node.head.text,
      );
    if (!api.isBinaryExpression(node)) return unknown(node);
    const { kind } = node.operatorToken;
    const { AmpersandAmpersandToken, BarBarToken, QuestionQuestionToken } = api.SyntaxKind;
    const left = this.evaluate(node.left, given);
    if (kind === AmpersandAmpersandToken) return left && this.evaluate(node.right, given);
    if (kind === BarBarToken) return left || this.evaluate(node.right, given);
    if (kind === QuestionQuestionToken) return left ?? this.evaluate(node.right, given);
    return applyOperator(api, kind, [left, this.evaluate(node.right, given)]) ?? unknown(node);
  }

  private list(nodes: readonly ts.Expression[], given: Given): unknown[] {
    return nodes.flatMap((node) =>
      this.api.isSpreadElement(node) ? [...(this.evaluate(node.expression, given) as Iterable<unknown>)] : [this.evaluate(node, given)],
    );
  }

  /** An object whose members are evaluated when they are asked for: some may be known only when the program runs. */
  private object(node: ts.ObjectLiteralExpression, given: Given): object {
    const { api } = this;
    const object = {};
    for (const property of node.properties) {
      if (api.isSpreadAssignment(property)) {
        const spread = this.evaluate(property.expression, given) as object | undefined;
        Object.defineProperties(object, Object.getOwnPropertyDescriptors(spread ?? {}));
      } else if (api.isShorthandPropertyAssignment(property)) define(object, property.name.text, () => this.name(property.name, given));
      else if (api.isMethodDeclaration(property) && isPlainName(api, property.name) && isFunctionSyntax(api, property))
        define(object, property.name.text, () => this.standIn(property));
      else if (api.isPropertyAssignment(property) && isPlainName(api, property.name))
        define(object, property.name.text, () => this.evaluate(property.initializer, given));
      else return unknown(node);
    }
    return object;
  }

  private member(node: ts.PropertyAccessExpression, given: Given): unknown {
    const { api } = this;
    const ownName = this.names.ownName(node);
    const value = ownName === undefined ? undefined : ownValue(ownName);
    if (value !== undefined) return value;
    const declaration = this.names.symbolOf(node.name)?.valueDeclaration;
    if (declaration && api.isEnumMember(declaration)) return this.names.checker.getConstantValue(declaration) ?? unknown(node);
    // A namespace of modules has no value: its members have.
    if (declaration && (api.isFunctionDeclaration(declaration) || api.isVariableDeclaration(declaration)))
      return this.declared(declaration, node, given);
    const written = this.membersOf(node.expression)?.get(node.name.text);
    return written ? this.evaluate(written, given) : own(this.evaluate(node.expression, given), node.name.text, node);
  }

  private name(node: ts.Identifier, given: Given): unknown {
    const symbol = this.names.symbolOf(node);
    if (symbol && given.has(symbol)) {
      const value = given.get(symbol);
      return value instanceof Later ? value.value() : value;
    }
    const ownName = this.names.ownName(node);
    if (ownName !== undefined) return ownValue(ownName) ?? unknown(node);
    const declaration = symbol?.valueDeclaration;
    if (declaration && !declaration.getSourceFile().isDeclarationFile) return this.declared(declaration, node, given);
    return Object.hasOwn(PURE_GLOBALS, node.text) ? PURE_GLOBALS[node.text] : unknown(node);
  }

  private declared(declaration: ts.Declaration, node: ts.Expression, given: Given): unknown {
    const { api } = this;
    if (isFunctionSyntax(api, declaration)) return this.standIn(declaration);
    if (api.isParameter(declaration) && api.isIdentifier(declaration.name)) return this.parameter(declaration, node);
    if (api.isBindingElement(declaration)) return this.bound(declaration, node, given);
    if (!api.isVariableDeclaration(declaration) || !declaration.initializer || !isConst(api, declaration)) return unknown(node);
    if (given !== NOTHING_GIVEN) return this.evaluate(declaration.initializer, given);
    if (!this.known.has(declaration)) this.known.set(declaration, this.evaluate(declaration.initializer, given));
    return this.known.get(declaration);
  }

  private parameter(declaration: ts.ParameterDeclaration, node: ts.Expression): unknown {
    try {
      const argument = this.names.argumentFor(declaration);
      return argument ? this.evaluate(argument, NOTHING_GIVEN) : unknown(node);
    } catch (error) {
      if (error instanceof UnknownValue && this.isNumber(node)) return this.choices.number();
      throw error;
    }
  }

  private isNumber(node: ts.Expression): boolean {
    const type = this.names.checker.getTypeAtLocation(node);
    return (type.flags & this.api.TypeFlags.NumberLike) !== 0 || (type.isUnion() && type.types.every((each) => each.isNumberLiteral()));
  }

  /** A name of a pattern: `const { x } = v`, `([a, b]) => ...`. */
  private bound(element: ts.BindingElement, node: ts.Expression, given: Given): unknown {
    const { api } = this;
    const pattern = element.parent;
    if (element.dotDotDotToken) return unknown(node);
    const key = api.isArrayBindingPattern(pattern) ? pattern.elements.indexOf(element) : (element.propertyName ?? element.name).getText();
    const holder = pattern.parent;
    const whole = api.isParameter(holder)
      ? this.names.argumentFor(holder)
      : api.isVariableDeclaration(holder) && isConst(api, holder)
        ? holder.initializer
        : undefined;
    if (api.isBindingElement(holder))
      return own(this.bound(holder, node, given), key, node, element.initializer && (() => this.evaluate(element.initializer!, given)));
    if (!whole) return unknown(node);
    const written = typeof key === "string" ? this.membersOf(whole) : undefined;
    if (written?.has(key as string)) return this.evaluate(written.get(key as string)!, given);
    if (written && element.initializer) return this.evaluate(element.initializer, given);
    return own(this.evaluate(whole, given), key, node, element.initializer && (() => this.evaluate(element.initializer!, given)));
  }

  /** A stand-in for a function; called with the list of a function's captures, it gives their values. */
  private standIn(node: FunctionSyntax): Function {
    if (!this.known.has(node)) {
      let values: unknown;
      const ask = (): unknown => (values ??= this.listed(node));
      const fn = standIn(this.api, node, ask);
      this.known.set(node, fn);
      const list = this.names.listOf(node);
      if (list) this.registered(fn, this.evaluate(list, NOTHING_GIVEN));
    }
    return this.known.get(node) as Function;
  }

  private registered(fn: Function, list: unknown): void {
    helper(fn as never, list as Captures);
    this.listLater(list);
  }

  /** Values of the list that a function gives; an empty list for all that gives none. */
  private listed(node: FunctionSyntax): unknown {
    const { api } = this;
    const last = api.isBlock(node.body!) ? node.body.statements.at(-1) : undefined;
    const result = last ? (api.isReturnStatement(last) ? last.expression : undefined) : (node.body as ts.Expression);
    const list = result && bare(api, result);
    if (!list || !api.isArrayLiteralExpression(list)) return [];
    return list.elements.map((each) => (api.isSpreadElement(each) ? undefined : this.valueOf(each)));
  }

  /** Asks for the values of a list of captures when all is settled. */
  listLater(captures: unknown): void {
    if (syntaxOf(captures)) this.pending.push(captures as () => unknown);
  }

  private call(node: ts.CallExpression, given: Given): unknown {
    const { api } = this;
    const ownName = this.names.ownName(node.expression);
    if (ownName !== undefined) return this.ownCall(ownName, node, given);
    const args = (): unknown[] => this.list(node.arguments, given).map((arg) => this.callable(arg, given));
    if (api.isPropertyAccessExpression(node.expression)) {
      const { expression, name } = node.expression;
      const object = this.evaluate(expression, given);
      if (isPureMethod(object, name.text)) return (own(object, name.text, node) as Function).apply(object, args());
    }
    const fn = this.evaluate(node.expression, given);
    const syntax = syntaxOf(fn);
    if (!syntax) return unknown(node);
    if (node.arguments.some((each) => api.isSpreadElement(each))) return this.follow(syntax, this.list(node.arguments, given), given);
    const later = node.arguments.map((each) => new Later(once(() => this.evaluate(each, given))));
    return this.follow(syntax, later, given);
  }

  private ownCall(name: string, node: ts.CallExpression, given: Given): unknown {
    const fn = ownValue(name);
    if (typeof fn !== "function") return unknown(node);
    const args = this.list(node.arguments, given);
    if (name === "helper") this.listLater(args[1]);
    try {
      return (fn as (...args: unknown[]) => unknown)(...args);
    } catch (error) {
      throw error instanceof UnknownValue ? error : new DeclarationMistake(node, error as Error);
    }
  }

  /** A function of the program that a method of JavaScript's own may call. */
  private callable(value: unknown, given: Given): unknown {
    const syntax = syntaxOf(value);
    return syntax ? (...args: unknown[]) => this.follow(syntax, args, given) : value;
  }

  /** Follows a function that is one expression, after constants. */
  private follow(node: FunctionSyntax, args: readonly unknown[], around: Given): unknown {
    const { api } = this;
    const given = new Map(around);
    node.parameters.forEach((parameter, n) => this.bind(parameter.name, args[n], given));
    if (!api.isBlock(node.body!)) return this.evaluate(node.body as ts.Expression, given);
    return this.followed(node.body.statements, node, given);
  }

  private followed(statements: readonly ts.Statement[], node: FunctionSyntax, given: Map<ts.Symbol, unknown>): unknown {
    const { api } = this;
    for (const statement of statements) {
      if (api.isReturnStatement(statement) && statement.expression) return this.evaluate(statement.expression, given);
      if (this.isTest(statement) || api.isFunctionDeclaration(statement)) continue;
      if (!api.isVariableStatement(statement)) return unknown(node);
      for (const { name, initializer } of statement.declarationList.declarations) {
        const value = once(() => initializer && this.evaluate(initializer, given));
        this.bind(name, api.isIdentifier(name) ? new Later(value) : value(), given);
      }
    }
    return unknown(node);
  }

  /** True for a statement that may end the program with an error, and does nothing else. */
  private isTest(statement: ts.Statement): boolean {
    const { api } = this;
    if (!api.isIfStatement(statement) || statement.elseStatement) return false;
    const then = api.isBlock(statement.thenStatement) ? statement.thenStatement.statements.at(-1) : statement.thenStatement;
    return then !== undefined && api.isThrowStatement(then);
  }

  private bind(name: ts.BindingName, value: unknown, given: Map<ts.Symbol, unknown>): void {
    const { api } = this;
    if (api.isIdentifier(name)) {
      const symbol = this.names.checker.getSymbolAtLocation(name);
      if (symbol) given.set(symbol, value);
      return;
    }
    const whole = value instanceof Later ? value.value() : value;
    name.elements.forEach((element, n) => {
      if (api.isOmittedExpression(element)) return;
      if (element.dotDotDotToken || element.initializer) unknown(element);
      const key = api.isArrayBindingPattern(name) ? n : (element.propertyName ?? element.name).getText();
      this.bind(element.name, own(whole, key, element), given);
    });
  }

  private made(node: ts.NewExpression, given: Given): unknown {
    const type = this.evaluate(node.expression, given);
    if (type !== Array && !(typeof type === "function" && /^(?:Float|Int|Uint)\d+Array$/.test(type.name))) return unknown(node);
    return Reflect.construct(type as Function, this.list(node.arguments ?? [], given)) as unknown;
  }
}

/** A declaration that Isoform refuses, such as `view(f64, 9)`. */
export class DeclarationMistake extends Error {
  constructor(
    readonly node: ts.Node,
    override readonly cause: Error,
  ) {
    super(cause.message);
  }
}

/** Defines a member that is evaluated once, when it is asked for. */
function define(object: object, name: string, get: () => unknown): void {
  const found = once(get);
  Object.defineProperty(object, name, { get: found, enumerable: true, configurable: true });
}

/** Evaluates once. */
function once(get: () => unknown): () => unknown {
  let found: { readonly value: unknown } | undefined;
  return () => (found ??= { value: get() }).value;
}

/** A constant that is evaluated when it is asked for. */
class Later {
  constructor(readonly value: () => unknown) {}
}

function unknown(node: ts.Node): never {
  throw new UnknownValue(node.getText());
}

/** A property of a value's own, or a method of a list. Throws UnknownValue where there is none. */
function own(value: unknown, key: unknown, node: ts.Node, otherwise?: () => unknown): unknown {
  const name = String(key);
  if (value === undefined || value === null) return unknown(node);
  const object = Object(value) as Record<string, unknown>;
  if (Object.hasOwn(object, name) && object[name] !== undefined) return object[name];
  if (isPureMethod(value, name)) return object[name];
  return otherwise ? otherwise() : unknown(node);
}

const isPlainName = (api: ProgramNames["api"], name: ts.PropertyName): name is ts.Identifier | ts.StringLiteral | ts.NumericLiteral =>
  api.isIdentifier(name) || api.isStringLiteral(name) || api.isNumericLiteral(name);

/** An expression without parentheses and assertions. */
function bare(api: ProgramNames["api"], node: ts.Expression): ts.Expression {
  let at = node;
  while (
    api.isParenthesizedExpression(at) ||
    api.isAsExpression(at) ||
    api.isSatisfiesExpression(at) ||
    api.isNonNullExpression(at) ||
    api.isTypeAssertionExpression(at)
  )
    at = at.expression;
  return at;
}

const isConst = (api: ProgramNames["api"], declaration: ts.VariableDeclaration): boolean =>
  (api.getCombinedNodeFlags(declaration) & api.NodeFlags.Const) !== 0;
