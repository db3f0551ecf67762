import { Problems } from "../errors.js";
import { unitKey } from "../tree/keys.js";
import type {
  ActualArgument,
  Declaration,
  DeclaredName,
  Expr,
  SourceFile,
  Stmt,
  TypeSpec,
  Unit,
  VariableDeclaration,
} from "../tree/index.js";
import { find, findProcedure, readSymbols, type UnitScope, type Variable, type World } from "./symbols.js";
import { eachNode, eachStatement, mapStatements } from "./visit.js";
import { expressionsOf, visitExpr, withExpressions } from "./walk.js";

/*
 * Texts as numbers, as far as programs only choose by them: `mode = "fast"`, `if (mode == "fast")`. Equal texts have one number. Variables with
 * texts that are made otherwise, such as names of files, are left out where they are assigned, and refused where something depends on them.
 */

/** Numbers of texts, without the blanks at their ends. */
export class Texts {
  private readonly numbers = new Map<string, number>([["", 0]]);

  textOf(number: number): string {
    return [...this.numbers].find(([, n]) => n === number)?.[0] ?? "";
  }

  numberOf(text: string): number {
    const known = text.replace(/ +$/, "");
    const number = this.numbers.get(known) ?? this.numbers.size;
    this.numbers.set(known, number);
    return number;
  }
}

/** The attribute of a number that stands for a text. */
const TEXT = "text";
export const isTextNumber = ({ attributes }: Pick<Variable, "attributes">): boolean => attributes.has(TEXT);

/** The files with numbers in place of texts; the same files if they declare none. */
export function withTextNumbers(files: readonly SourceFile[], kinds: World["kinds"], texts: Texts): readonly SourceFile[] {
  let hasTexts = false;
  eachNode(
    files.map(({ units }) => units),
    (node) => void (hasTexts ||= node.kind === "variables" && (node as VariableDeclaration).type.type === "character"),
  );
  if (!hasTexts) return files;
  const world = readSymbols(files, kinds, new Problems());
  const scopes = new Map(world.scopes.map((scope) => [unitKey(scope.unit), scope]));
  const rewriter = new Rewriter(chosen(world), texts, scopes);
  return files.map((file) => ({ ...file, units: file.units.map((unit) => rewriter.unit(unit)) }));
}

const isText = (variable: Variable | undefined): variable is Variable =>
  variable !== undefined && !variable.dims && variable.refused?.construct === "character";

/** The variable that an expression names. */
const textNamed = (scope: UnitScope, e: Expr): Variable | undefined => {
  const variable = e.kind === "name" ? find(scope, e.name) : undefined;
  return isText(variable) ? variable : undefined;
};

/** `trim(mode)`, `"fast"`, `mode`: the text without the blanks at its end. */
function bareText(scope: UnitScope, e: Expr): Expr {
  if (e.kind === "group") return bareText(scope, e.a);
  const [first] = e.kind === "apply" && e.base.kind === "name" && e.base.name === "trim" && !find(scope, "trim") ? e.args : [];
  return first?.kind === "value" ? bareText(scope, first.value) : e;
}

/** A literal whose text is told by its letters: quotes inside may be doubled. */
const isLiteral = (e: Expr): e is Extract<Expr, { kind: "literal" }> =>
  e.kind === "literal" && e.type === "character" && !/['"]/.test(e.text);

/** The length of a variable: Infinity if it takes any text. */
function lengthOf(scope: UnitScope, { name }: Variable): number | undefined {
  for (const line of scope.unit.declarations) {
    const each = line.kind === "variables" ? line.names.find((n) => n.name === name) : undefined;
    if (line.kind !== "variables" || !each) continue;
    const text = line.type.text.toLowerCase().replace(/\s/g, "");
    const [, digits, any] = /^character(?:\*\(?|\((?:len=)?)(?:(\d+)|(:))\)?$/.exec(text) ?? [];
    return digits !== undefined ? Number(digits) : any !== undefined ? Infinity : text === "character" ? 1 : undefined;
  }
  return undefined;
}

/** The variables whose texts are always literals of the program, or given from outside. */
function chosen(world: World): Set<Variable> {
  const found = new Set<Variable>();
  for (const { unit, variables } of world.scopes) {
    const result = unit.kind === "procedure" && unit.form === "function" ? (unit.result ?? unit.name) : undefined;
    for (const variable of variables.values()) if (isText(variable) && variable.name !== result) found.add(variable);
  }
  const isKnown = (scope: UnitScope, e: Expr, longest: number): boolean => {
    const bare = bareText(scope, e);
    if (isLiteral(bare)) return bare.text.length <= longest;
    const variable = textNamed(scope, bare);
    return variable !== undefined && found.has(variable) && (lengthOf(variable.scope, variable) ?? Infinity) <= longest;
  };
  for (let count = -1; count !== found.size;) {
    count = found.size;
    for (const scope of world.scopes) if (scope.unit.kind !== "module") forgetOthers(scope, found, isKnown);
  }
  return found;
}

/** Takes variables out that a unit gives a text of another kind. */
function forgetOthers(scope: UnitScope, found: Set<Variable>, isKnown: (scope: UnitScope, e: Expr, longest: number) => boolean): void {
  const { unit } = scope;
  if (unit.kind === "module") return;
  const forget = (variable: Variable | undefined): void => void (variable && found.delete(variable));
  eachStatement(unit.body, (stmt) => {
    if (stmt.kind === "assign" && stmt.target.kind === "name") {
      const variable = textNamed(scope, stmt.target);
      if (variable && !isKnown(scope, stmt.value, lengthOf(variable.scope, variable) ?? -1)) forget(variable);
    } else if (stmt.kind === "assign" && stmt.target.kind === "apply") forget(textNamed(scope, stmt.target.base));
    // Statements that are not read may assign what they name: `write(name, '(i0)') n`, `read`.
    if (stmt.kind === "unsupported")
      for (const name of stmt.text.match(/[a-z]\w*/gi) ?? []) if (!isToScreen(stmt.text)) forget(find(scope, name.toLowerCase()));
    const calls = (name: string, args: readonly ActualArgument[]): void => {
      const called = findProcedure(scope, name);
      args.forEach((arg, n) => {
        if (arg.kind !== "value") return;
        const dummies = called?.unit.kind === "procedure" ? called.unit.dummies : [];
        const dummy = called?.variables.get(arg.keyword ?? dummies[n]);
        if (isText(dummy) && !isKnown(scope, arg.value, Infinity)) forget(dummy);
        const given = textNamed(scope, arg.value);
        if (given && (!dummy || !(dummy.attributes.has("intent(in)") || dummy.attributes.has("value"))) && !KEEP.includes(name))
          forget(given);
      });
    };
    if (stmt.kind === "call" && stmt.procedure.kind === "name") calls(stmt.procedure.name, stmt.args);
    for (const root of expressionsOf(stmt))
      visitExpr(root, (e) => void (e.kind === "apply" && e.base.kind === "name" && calls(e.base.name, e.args)));
  });
}

const isToScreen = (text: string): boolean => /^write\s*\(\s*(?:unit\s*=\s*)?(\*|\d+)/i.test(text);
/** Functions of the language that leave their arguments as they are. */
const KEEP: readonly string[] = ["trim", "adjustl", "adjustr", "len", "len_trim", "index", "scan", "verify", "ichar", "iachar", "present"];
/** Calls that give a variable a text from outside. */
const OUTSIDE: readonly string[] = ["get_environment_variable", "get_command_argument", "getenv", "getarg", "getcwd", "date_and_time"];

class Rewriter {
  constructor(
    private readonly chosen: ReadonlySet<Variable>,
    private readonly texts: Texts,
    private readonly scopes: ReadonlyMap<string, UnitScope>,
  ) {}

  unit<T extends Unit>(unit: T): T {
    const procedures = unit.procedures.map((procedure) => this.unit(procedure));
    const scope = this.scopes.get(unitKey(unit));
    // The unit with its blocks' variables as its own.
    const from = (scope?.unit ?? unit) as T;
    if (!scope) return { ...unit, procedures };
    const declarations = from.declarations.flatMap((line) => this.declaration(scope, line));
    const body = "body" in from ? { body: mapStatements(from.body, (stmt) => this.statement(scope, stmt)) } : {};
    return { ...from, procedures, declarations, ...body };
  }

  /** A line without the variables that are numbers, and a line that has these. */
  private declaration(scope: UnitScope, line: Declaration): Declaration[] {
    if (line.kind !== "variables" || line.type.type !== "character") return [line];
    const isNumber = ({ name }: DeclaredName): boolean =>
      [scope.variables.get(name)].some((variable) => variable && this.chosen.has(variable));
    const others = line.names.filter((each) => !isNumber(each));
    const names = line.names
      .filter(isNumber)
      .map((each) => ({ ...each, ...(each.init && { init: this.value(scope, each.init) ?? each.init }) }));
    const type: TypeSpec = { type: "integer", text: "integer", at: line.type.at };
    const made: Declaration = { ...line, type, names, attributes: [...line.attributes, TEXT] };
    return [...(others.length > 0 ? [{ ...line, names: others }] : []), ...(names.length > 0 ? [made] : [])];
  }

  /** The number of a text; undefined where it is not known. */
  private value(scope: UnitScope, e: Expr): Expr | undefined {
    const bare = bareText(scope, e);
    if (isLiteral(bare)) return { kind: "literal", type: "integer", text: String(this.texts.numberOf(bare.text)), at: e.at };
    const variable = textNamed(scope, bare);
    return variable && this.chosen.has(variable) ? bare : undefined;
  }

  private statement(scope: UnitScope, stmt: Stmt): Stmt[] {
    const { at } = stmt;
    if (stmt.kind === "assign") {
      const base = stmt.target.kind === "apply" ? stmt.target.base : stmt.target;
      const variable = textNamed(scope, base);
      if (variable) {
        const value = this.chosen.has(variable) ? this.value(scope, stmt.value) : undefined;
        return value ? [{ ...stmt, value }] : [{ kind: "continue", at, ...(stmt.label !== undefined && { label: stmt.label }) }];
      }
    }
    if (stmt.kind === "call" && stmt.procedure.kind === "name") {
      const { name } = stmt.procedure;
      const isOwn = findProcedure(scope, name) !== undefined;
      if (!isOwn && OUTSIDE.includes(name) && stmt.args.every((arg, n) => isNumberOrText(scope, arg, n))) return [{ kind: "continue", at }];
      return [
        {
          ...withExpressions(stmt, (e) => this.expression(scope, e)),
          args: this.args(
            scope,
            name,
            withExpressions(stmt.args, (e) => this.expression(scope, e)),
          ),
        },
      ];
    }
    if (stmt.kind === "print")
      return [
        {
          ...stmt,
          items: stmt.items.map((e) =>
            this.value(scope, e) !== undefined ? bareText(scope, e) : withExpressions(e, (part) => this.expression(scope, part)),
          ),
        },
      ];
    if (stmt.kind === "select") {
      const value = this.value(scope, stmt.value);
      const ranges = (list: (typeof stmt.cases)[number]["ranges"]) =>
        list?.map((range) => {
          const made = range.lower && range.lower === range.upper ? this.value(scope, range.lower) : undefined;
          return made ? { lower: made, upper: made } : range;
        });
      if (value)
        return [{ ...stmt, value, cases: stmt.cases.map((part) => ({ ...part, ...(part.ranges && { ranges: ranges(part.ranges) }) })) }];
    }
    return [withExpressions(stmt, (e) => this.expression(scope, e))];
  }

  private expression(scope: UnitScope, e: Expr): Expr {
    if (e.kind === "binary" && (e.op === "==" || e.op === "/=")) {
      const [a, b] = [this.value(scope, e.a), this.value(scope, e.b)];
      return a && b ? { ...e, a, b } : e;
    }
    return e.kind === "apply" && e.base.kind === "name" ? { ...e, args: this.args(scope, e.base.name, e.args) } : e;
  }

  /** Arguments with numbers for texts that the procedure has as numbers. */
  private args(scope: UnitScope, name: string, args: readonly ActualArgument[]): ActualArgument[] {
    const called = findProcedure(scope, name);
    return args.map((arg, n) => {
      if (arg.kind !== "value" || called?.unit.kind !== "procedure") return arg;
      const dummy = called.variables.get(arg.keyword ?? called.unit.dummies[n]);
      const value = dummy && this.chosen.has(dummy) ? this.value(scope, arg.value) : undefined;
      return value ? { ...arg, value } : arg;
    });
  }
}

/** Whether the argument of a call that asks outside is the number of an argument, or the text that it gives. */
const isNumberOrText = (scope: UnitScope, arg: ActualArgument, n: number): boolean =>
  arg.kind === "value" && (n === 0 || textNamed(scope, arg.value) !== undefined);
