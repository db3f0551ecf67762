import type * as acorn from "acorn";
import type { Location, NumericType, Table } from "../../ir/types.js";
import { builtinName } from "../declare/builtins.js";
import { captured, nothing, type Captures } from "../declare/captures.js";
import { describe } from "../../base/describe.js";
import { KernelError } from "../../base/errors.js";
import { arrayTypeOf, type ScalarToken, type TableToken } from "../declare/params.js";
import { compositeOf } from "../declare/composite.js";
import { isValueType, structOf } from "../declare/struct.js";
import { parseFunction, type FunctionSource } from "../read/source.js";
import { pathOf } from "../read/syntax.js";
import { tableOf } from "./tables.js";
import { literalExpr, wideLiteral } from "./types.js";
import { constantExpr, Scope, type LoweredValue } from "./values.js";

/*
 * Lists of captures (see declare/captures.ts), read: the meaning of each name in the body of a kernel, and in the functions that it calls.
 */

/** Properties of a kernel, or of a container's body, that lists need. */
interface Owner {
  readonly name: string;
  readonly params: object;
  readonly location: Location;
  readonly captures?: Captures;
}

interface Entry {
  /** As it is written, `m.wave`; undefined for a value that a minifier wrote in place of its name. */
  readonly path: string | undefined;
  readonly value: unknown;
  readonly node: acorn.Node;
}

const lists = new WeakMap<object, CaptureList>();

/**
 * The list of a kernel; undefined if neither it nor a helper among its parameters has one. Its values are read on the first call.
 * Throws KernelError.
 */
export function capturesOf(owner: Owner): CaptureList | undefined {
  const given = Object.values(owner.params).filter((token) => typeof token === "function" && !isValueType(token) && captured(token));
  if (!owner.captures && given.length === 0) return undefined;
  let list = lists.get(owner);
  if (!list) {
    list = new CaptureList(owner, owner.captures ?? nothing);
    for (const fn of given) list.scopeOf(fn);
    lists.set(owner, list);
  }
  return list;
}

/** State shared by the lists of a kernel and of its functions. */
class Found {
  readonly tables: Table[] = [];
  readonly meanings = new Map<unknown, LoweredValue>();
  /** Lists of functions that have their own. */
  readonly lists = new Map<Function, CaptureList>();
}

/** Names and their values. */
export class CaptureList {
  private readonly entries: readonly Entry[];
  private readonly source: FunctionSource;
  /** Names that were looked up. */
  private readonly used = new Set<Entry>();

  constructor(
    private readonly owner: Owner,
    private readonly captures: Captures,
    private readonly found = new Found(),
    /** Called with the list before the lists of its functions are read, which may name each other. */
    note?: (list: CaptureList) => void,
  ) {
    note?.(this);
    this.source = parseFunction(owner.name, captures, owner.location);
    this.entries = this.read();
    for (const { path, value } of this.entries) {
      if (path !== undefined && isTable(value)) this.declareTable(path, value);
      if (typeof value === "function") this.ownList(value);
    }
  }

  /** The tables that it names, and those that its functions name. */
  get tables(): readonly Table[] {
    return this.found.tables;
  }

  /** The names of a function that has a list of its own. */
  scopeOf(fn: Function): Scope | undefined {
    const own = this.ownList(fn);
    return own && new CaptureScope((path) => own.inBody(path), own);
  }

  private ownList(fn: Function): CaptureList | undefined {
    const captures = captured(fn);
    const { lists } = this.found;
    if (captures && !lists.has(fn)) new CaptureList(this.owner, captures, this.found, (list) => lists.set(fn, list));
    return lists.get(fn);
  }

  private read(): Entry[] {
    const list = listIn(this.source.node);
    if (!list || list.elements.some((e) => e?.type === "SpreadElement"))
      return this.fail(this.source.node, "its captures are not listed one by one", "write () => [wave, C]");
    const values = this.values();
    return list.elements.map((e, n) => ({ path: e ? pathOf(e) : undefined, value: values[n], node: e ?? list }));
  }

  private values(): readonly unknown[] {
    try {
      return this.captures();
    } catch (error) {
      const problem = `its captures cannot be listed yet: ${(error as Error).message}`;
      return this.fail(this.source.node, problem, "declare them before: kernels are compiled at their first use, containers at once");
    }
  }

  private declareTable(path: string, token: TableToken): void {
    if (this.found.meanings.has(token)) return;
    let name = lastOf(path).replace(/[^A-Za-z0-9_]/g, "_");
    while (Object.hasOwn(this.owner.params, name) || this.found.tables.some((table) => table.name === name)) name += "_";
    const table = tableOf(name, token);
    if (!table) return;
    this.found.tables.push(table);
    this.found.meanings.set(token, { kind: "table", name, type: table.type, shape: table.shape, prefix: [] });
  }

  /** Value of a path in the body itself. */
  inBody(path: string): LoweredValue | undefined {
    const entry = this.entries.find((e) => e.path === path);
    return entry && this.meaning(entry);
  }

  /**
   * Value of a path in a function. The function may be of another module, where things have other paths: then the last name decides. For a function
   * that was listed as a member of something, members of the same thing come first, and names of the body's own module last.
   */
  inFunction(path: string, module: string | undefined): LoweredValue | undefined {
    const exact = module === undefined ? this.inBody(path) : undefined;
    if (exact) return exact;
    const alike = this.entries.filter((e) => e.path !== undefined && lastOf(e.path) === lastOf(path));
    const near = alike.filter((e) => moduleOf(e.path!) === module);
    const members = alike.filter((e) => moduleOf(e.path!) !== undefined);
    const [first, ...others] = [near, members, alike].find((list) => list.length > 0) ?? [];
    if (!first) return undefined;
    const other = others.find((e) => !Object.is(e.value, first.value));
    if (other)
      this.fail(
        other.node,
        `a function names "${path}", which may be ${first.path} or ${other.path}`,
        "give one of them another name where it is declared",
      );
    return this.meaning(first);
  }

  private meaning(entry: Entry): LoweredValue {
    this.used.add(entry);
    const { value } = entry;
    let made = this.found.meanings.get(value);
    if (!made) this.found.meanings.set(value, (made = this.meaningOf(entry)));
    return made;
  }

  private meaningOf({ value, node, path = "" }: Entry): LoweredValue {
    if (typeof value === "number") return literalExpr(value);
    if (typeof value === "boolean") return { kind: "scalar", expr: constantExpr("bool", value) };
    const wide = bigintMeaning(value);
    if (wide) return wide;
    const array = arrayTypeOf(value);
    if (array) return { kind: "arrayType", type: array };
    if (typeof value === "function") {
      const composite = compositeOf(value);
      if (composite) return { kind: "composite", of: composite };
      const struct = structOf(value);
      if (struct) return { kind: "struct", of: struct };
      const builtin = builtinName(value);
      if (builtin !== undefined) return { kind: "builtin", name: builtin };
      const math = Object.getOwnPropertyNames(Math).find((name) => (Math as unknown as Record<string, unknown>)[name] === value);
      if (math !== undefined) return { kind: "builtin", name: `Math.${math}` };
      const test = ["isNaN", "isFinite", "isInteger"].find((name) => (Number as unknown as Record<string, unknown>)[name] === value);
      if (test !== undefined) return { kind: "builtin", name: `Number.${test}` };
      const source = parseFunction(this.owner.name, value, this.owner.location);
      const scope = this.scopeOf(value) ?? new CaptureScope((wanted) => this.inFunction(wanted, moduleOf(path)), this);
      return { kind: "function", name: lastOf(path), node: source.node, source, scope };
    }
    if (isTable(value)) return this.fail(node, `the table ${path} is not a full array of rank 1 to 4`, "give every row the same length");
    const token = value as Partial<ScalarToken> | null | undefined;
    if (token?.kind === "scalar" && token.type !== "bool") return { kind: "arrayType", type: token.type as NumericType };
    return this.fail(
      node,
      `${path} is ${describe(value)}, which kernels cannot use`,
      typeof value === "object" && value !== null
        ? `list what is used of it, () => [${path}.name]; numbers as table(f64, [...])`
        : "list numbers, tables and functions",
    );
  }

  /** How to add a name to the list. */
  remedy(path: string): string {
    const paths = this.entries.flatMap((e) => e.path ?? []);
    return `add it to the list: () => [${[...(paths.length > 6 ? ["..."] : paths), path].join(", ")}]`;
  }

  /**
   * Refuses what is listed in vain, because the body has a parameter of that name. Minifiers, which leave no space, may give a parameter the
   * name of something that only functions use.
   */
  refuseShadowed(bound: (name: string) => boolean): void {
    if (!/\s/.test(Function.prototype.toString.call(this.captures))) return;
    for (const entry of this.entries)
      if (entry.path !== undefined && Object.hasOwn(this.owner.params, entry.path) && !this.used.has(entry) && bound(entry.path))
        this.fail(entry.node, `${entry.path} is listed, and is a parameter too`, "take it from one or the other");
  }

  private fail(node: acorn.Node, problem: string, remedy: string): never {
    throw new KernelError(this.owner.name, this.source.locate(node), problem, remedy);
  }
}

/** The outermost scope of code with free names in a list; other names are looked for in the scope around. */
export class CaptureScope extends Scope {
  constructor(
    private readonly search: (path: string) => LoweredValue | undefined,
    readonly list: CaptureList,
    around?: Scope,
  ) {
    super(around);
  }

  override find(path: string): LoweredValue | undefined {
    return this.search(path) ?? super.find(path);
  }
}

/** The list in which the free names of code are found. */
export function listBehind(scope: Scope): CaptureList | undefined {
  for (let at: Scope | undefined = scope; at; at = at.parent) if (at instanceof CaptureScope) return at.list;
  return undefined;
}

/** The list that a function returns; tools may put other expressions before it. */
function listIn({ body }: FunctionSource["node"]): acorn.ArrayExpression | undefined {
  const last = body.type === "BlockStatement" ? body.body.at(-1) : undefined;
  let result = body.type === "BlockStatement" ? (last?.type === "ReturnStatement" ? last.argument : undefined) : body;
  if (result?.type === "SequenceExpression") result = result.expressions.at(-1);
  return result?.type === "ArrayExpression" ? result : undefined;
}

const isTable = (value: unknown): value is TableToken => (value as Partial<TableToken> | null | undefined)?.kind === "table";

const lastOf = (path: string): string => path.slice(path.lastIndexOf(".") + 1);

/** Path of the thing that a path is a member of. */
const moduleOf = (path: string): string | undefined => (path.includes(".") ? path.slice(0, path.lastIndexOf(".")) : undefined);

/** A bigint, and JavaScript's functions that make and cut them. */
function bigintMeaning(value: unknown): LoweredValue | undefined {
  if (typeof value === "bigint") return wideLiteral(value);
  if (value === BigInt || value === Number) return { kind: "namespace", name: value === BigInt ? "BigInt" : "Number" };
  const cut = (["asIntN", "asUintN"] as const).find((name) => BigInt[name] === value);
  return cut && { kind: "builtin", name: `BigInt.${cut}` };
}
