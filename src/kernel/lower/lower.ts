import { typedValue, valueType } from "../../ir/scalars.js";
import type { ElementMeaning } from "../declare/storage.js";
import { meantType, withStoredValues } from "./stored-values.js";
import { originalPosition } from "#source-map";
import { own, requireOwnNames } from "../../base/own.js";
import type { KernelIR, NumericType, Param, PlainValue, ScatterOp, Stmt } from "../../ir/types.js";
import { builtinName } from "../declare/builtins.js";
import type { AxisToken, DepositToken, Dimension, FieldParamToken, ParticleLists, ResidentToken } from "../declare/cells.js";
import { KernelError } from "../../base/errors.js";
import { axisParam, lowerCellAxes, overParticles } from "./fields.js";
import type { Kernel } from "../declare/kernel.js";
import { Knowledge, Lowering } from "./lowering.js";
import { capturesOf, CaptureScope, type CaptureList } from "./capture-lists.js";
import {
  arrayTypeOf,
  type AssignToken,
  type AtomicToken,
  type FixedToken,
  type ParamToken,
  type ReduceIntoToken,
  type ReduceToken,
  type StructViewToken,
  type ViewToken,
} from "../declare/params.js";
import { compositeOf, type CompositeType } from "../declare/composite.js";
import { namedParts } from "../declare/flat.js";
import { isValueType, structOf, type StructType } from "../declare/struct.js";
import { foldOfNumbers, foldOfRecords } from "./fold-functions.js";
import { atomicParam } from "./atomics.js";
import { extremumFold, foldBy, partParam, refuseInContainers, requireListPolicy } from "./joint.js";
import { recordFrom, structViewOf } from "./structs.js";
import { compositeFrom } from "./composites.js";
import { parseFunction, type FunctionSource } from "../read/source.js";
import { bindsAs } from "../read/syntax.js";
import { tableOf, tokenText } from "./tables.js";
import { literalParam } from "./types.js";
import { Scope, constantExpr, type FunctionValue, type LoweredValue, type ScalarValue } from "./values.js";
import { startHeld } from "./held.js";
import { listSupport } from "../declare/list-support.js";
import type { KernelWithLists, LoweredList, startList } from "./lists.js";
import { inline } from "./inline.js";
import * as dispatch from "./dispatch.js";
import { int } from "../../ir/expressions.js";

/** Declarations of a body's parameters. */
type Token = ParamToken | FieldParamToken | AxisToken | DepositToken | ResidentToken | AssignToken;

/**
 * Source to be lowered: a kernel, the body of a container, which runs once for each cell, or for each particle of each cell, or a scalar
 * step, which runs once.
 */
export interface LowerSource extends Omit<Kernel, "params" | "policy"> {
  readonly params: Readonly<Record<string, Token>>;
  readonly policy:
    | Kernel["policy"]
    | "once"
    | {
        readonly cells: Dimension;
        readonly particles?: ParticleLists;
        /** The kernel axis along which the body marches. */
        readonly march?: number;
      };
}

/**
 * Turns a kernel's TypeScript function into IR: names resolved, types inferred, helpers inlined, returns made into plain control flow.
 * Throws KernelError, with the author's line and a remedy, for whatever is outside the language (docs/language.md).
 *
 * @param fixed values of the parameters declared `fixed`
 * @param debug accept `console.log`, which compiles to nothing
 */
export function lower(kernel: LowerSource, fixed: Readonly<Record<string, number | bigint | boolean>>, debug = false): KernelWithLists {
  requireOwnNames(Object.keys(kernel.params), kernel.name, kernel.location);
  const source = parseFunction(kernel.name, kernel.body, kernel.location);
  const captures = capturesOf(kernel);
  const knowledge = new Knowledge();
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    knowledge.fresh = false;
    try {
      const ir = new KernelLowering(kernel, fixed, debug, source, captures, knowledge).run();
      if (!knowledge.fresh) return ir;
    } catch (error) {
      if (!knowledge.fresh) throw error;
    }
  }
  throw new KernelError(
    kernel.name,
    kernel.location,
    "the types of its variables cannot be inferred",
    "give each variable one type from its first value on",
  );
}

/** An attempt learns the types of many variables at once; a chain of variables that wait for each other takes one for each link. */
const MAX_ATTEMPTS = 100;

class KernelLowering {
  private readonly ir: KernelIR;
  private readonly globals = new Scope();
  /** Statements after the body. */
  private readonly last: Stmt[] = [];
  /** Views whose elements mean something else than what they hold. */
  private readonly meanings = new Map<string, ElementMeaning>();
  private readonly lists: LoweredList[] = [];

  constructor(
    private readonly kernel: LowerSource,
    private readonly fixed: Readonly<Record<string, number | bigint | boolean>>,
    private readonly debug: boolean,
    private readonly source: FunctionSource,
    private readonly captures: CaptureList | undefined,
    private readonly knowledge: Knowledge,
  ) {
    const indices = source.node.params.length - 1;
    const rank = typeof kernel.policy === "object" ? kernel.policy.cells : kernel.policy === "once" ? 1 : indices;
    this.ir = {
      name: kernel.name,
      policy: kernel.policy === "team" ? { kind: "team" } : { kind: "range", rank },
      params: [],
      tables: [],
      body: [],
      location: originalPosition(kernel.location),
    };
    if (kernel.policy === "range" && (rank < 1 || rank > 4))
      this.fail(`its function has ${rank} index parameters`, "write (params, i) => ..., with 1 to 4 indices");
    if (kernel.policy === "once" && indices > 0) this.fail("a scalar step's function takes the parameters alone", "write (params) => ...");
    if (typeof kernel.policy === "object" && !kernel.policy.particles && indices > 1)
      this.fail("a container's function takes the parameters and the cell", "write (params, c) => ...");
    if (typeof kernel.policy === "object" && indices > 2)
      this.fail("a container's function over particles takes the parameters, the particle and its cell", "write (params, p, c) => ...");
    if (kernel.policy === "team" && rank !== 1)
      this.fail("a team kernel's function takes the parameters and the team", "write (params, team) => ...");
  }

  run(): KernelWithLists {
    for (const [name, token] of Object.entries(this.kernel.params)) this.declare(name, token);
    if (this.captures) this.ir.tables.push(...this.captures.tables);
    const cx = new Lowering(
      this.ir,
      this.knowledge,
      this.globals,
      this.debug,
      typeof this.kernel.policy === "object",
      this.source,
      dispatch,
    );
    const main: FunctionValue = {
      kind: "function",
      name: this.kernel.name,
      node: this.source.node,
      source: this.source,
      scope: this.functions(),
    };
    this.startParams(cx, main);
    const { policy } = this.kernel;
    const lists = typeof policy === "object" ? policy.particles : undefined;
    const particle = lists ? cx.unique("p") : undefined;
    const result = inline(cx, main, [{ kind: "params" }, ...this.elements(particle)], this.source.node);
    const assigns = this.source.node.body.type === "AssignmentExpression" || this.source.node.body.type === "UpdateExpression";
    if (result.kind !== "void" && !assigns)
      cx.fail(this.source.node, "the kernel returns a value", "write results to a view, a reduction or a scatter");
    this.captures?.refuseShadowed((name) => bindsAs(this.source.node, name));
    const body = lists && particle !== undefined ? [overParticles(this.ir, cx.out, lists, particle)] : [...cx.out, ...this.last];
    const whole: KernelWithLists = this.lists.length > 0 ? { ...this.ir, body, lists: this.lists } : { ...this.ir, body };
    return withStoredValues(whole, this.meanings);
  }

  /** Statements of reductions and lists before the body. */
  private startParams(cx: Lowering, main: FunctionValue): void {
    for (const [name, token] of Object.entries(this.kernel.params)) {
      if (typeof token !== "object") continue;
      if (token.kind === "reduceStruct") {
        const parts = this.partsOf(name).map((part) => part.name);
        foldBy(this.ir.params, foldOfRecords(cx, main, { kernel: this.kernel, name, parts, token }));
      }
      if (token.kind === "list") {
        const { value, list } = listSupport<{ startList: typeof startList }>().startList(cx, name, token, this.meanings);
        this.globals.bind(name, value);
        this.lists.push(list);
      }
      if (token.kind === "reduceEach") this.startEach(cx, name, token, token.components);
      if (token.kind !== "reduce") continue;
      const param = token.combine && this.ir.params.find((p) => p.name === name);
      if (param?.kind === "reduce") param.combine = foldOfNumbers(cx, main, { kernel: this.kernel, name, token });
      if (hasComponents(token)) this.startEach(cx, name, token, componentsOf(token));
    }
  }

  /** The function's arguments after the parameters. */
  private elements(particle: string | undefined): LoweredValue[] {
    if (typeof this.kernel.policy === "object") {
      const cell: LoweredValue = { kind: "cell", dimension: this.kernel.policy.cells, marches: this.kernel.policy.march };
      return particle === undefined ? [cell] : [{ kind: "particle", index: particle }, cell];
    }
    if (this.kernel.policy === "once") return [];
    if (this.ir.policy.kind === "team") return [{ kind: "team" }];
    return Array.from({ length: this.ir.policy.rank }, (_, axis): LoweredValue => ({
      kind: "scalar",
      expr: { op: "index", type: "i32", axis },
    }));
  }

  /** Names that the kernel's own function may use without taking them from its first argument: imported helpers that are passed, too. */
  private functions(): Scope {
    const scope = new Scope();
    for (const [name, token] of Object.entries(this.kernel.params))
      if (typeof token === "function" && !isValueType(token)) scope.bind(name, this.globals.find(name)!);
    const { captures } = this;
    return captures ? new CaptureScope((path) => captures.inBody(path), captures, scope) : scope;
  }

  /** Names for a helper that is a parameter: listed names, and the other parameters. */
  private namesOfHelpers(): Scope {
    const { captures, globals } = this;
    return captures ? new CaptureScope((path) => captures.inFunction(path, undefined), captures, globals) : globals;
  }

  private declare(name: string, token: Token): void {
    if (typeof token === "function") {
      const composite = compositeOf(token);
      if (composite) return this.compositeParam(name, composite);
      const struct = structOf(token);
      if (struct) return this.structParam(name, struct);
      const builtin = builtinName(token);
      if (builtin !== undefined) return this.globals.bind(name, { kind: "builtin", name: builtin });
      const type = arrayTypeOf(token);
      if (type) return this.globals.bind(name, { kind: "arrayType", type });
      const source = parseFunction(this.kernel.name, token, this.kernel.location);
      return this.globals.bind(name, {
        kind: "function",
        name,
        node: source.node,
        source,
        scope: this.captures?.scopeOf(token) ?? this.namesOfHelpers(),
      });
    }
    if (typeof token === "number" || typeof token === "bigint" || typeof token === "boolean")
      return this.globals.bind(name, literalParam(token) ?? this.fail(`"${name}" does not fit 64 bits`, "give a smaller bigint"));
    switch (token?.kind) {
      case "scalar":
        this.param({ kind: "scalar", name, type: token.type }, { kind: "scalar", expr: { op: "param", type: token.type, name } });
        return;
      case "fixed":
        this.globals.bind(name, { kind: "scalar", expr: constantExpr(token.type, this.fixedValue(name, token)) });
        return;
      case "view": {
        if ("atomic" in token) return this.param(...atomicParam(this.kernel, name, token as AtomicToken));
        if (token.meaning) this.meanings.set(name, token.meaning);
        this.param(
          { kind: "view", name, element: token.element, rank: token.rank, disjoint: token.disjoint },
          { kind: "view", name, element: meantType(token.element, token.meaning), rank: token.rank, prefix: [], of: token.of },
        );
        return;
      }
      case "field": {
        const { cardinality, level, same, scale } = token;
        if (scale !== undefined) this.meanings.set(same ?? name, { scale });
        const field: LoweredValue = {
          kind: "field",
          name: same ?? name,
          element: meantType(token.element, scale === undefined ? undefined : { scale }),
          cardinality,
          level,
        };
        if (same === undefined)
          this.param({ kind: "view", name, element: token.element, rank: lowerCellAxes(this.ir) + 1, disjoint: false }, field);
        else this.globals.bind(name, field);
        return;
      }
      case "axis":
        this.param(...axisParam(lowerCellAxes(this.ir), name, token));
        return;
      case "deposit": {
        const { element, cardinality } = token;
        this.param(
          { kind: "scatter", name, element, rank: lowerCellAxes(this.ir) + 1, op: "sum" },
          { kind: "deposit", name, element, cardinality },
        );
        return;
      }
      case "resident":
        this.param(
          { kind: "view", name, element: token.type, rank: 1, disjoint: false },
          { kind: "scalar", expr: { op: "load", type: token.type, view: name, indices: [constantExpr("i32", 0)] } },
        );
        return;
      case "assign":
        if (this.kernel.policy !== "once")
          this.fail(`the scalar "${name}" is assigned, which only scalar steps do`, `declare view(${token.type})`);
        // One element runs, so that nothing else writes there.
        this.param({ kind: "view", name, element: token.type, rank: 1, disjoint: true }, { kind: "assign", name, type: token.type });
        return;
      case "scatter":
        this.param(
          { kind: "scatter", name, element: token.element, rank: token.rank, op: token.op },
          { kind: "scatter", name, element: token.element, rank: token.rank, op: token.op, of: token.of },
        );
        return;
      case "reduce":
        if ("into" in token && typeof this.kernel.policy !== "object")
          this.fail(`the reduction "${name}" goes into a scalar, which only containers do`, `declare sum(${token.type}) and give a view`);
        if (hasComponents(token)) return;
        this.param(
          { kind: "reduce", name, type: token.type, op: token.op, identity: typedValue(token.type, token.identity) },
          { kind: "reduce", name, type: token.type, op: token.op },
        );
        return;
      case "reduceEach":
        return;
      case "structView":
        return this.structView(name, token);
      case "reduceComposite": {
        const { type, op, identity, of } = token;
        const parts = this.partsOf(name).map((part) => part.name);
        for (const part of parts) this.ir.params.push({ kind: "reduce", name: part, type, op, identity: typedValue(type, identity) });
        this.globals.bind(name, { kind: "reduceComposite", name, op, of, parts });
        return;
      }
      case "extremum": {
        refuseInContainers(this.kernel, name, `arg${token.op}(${token.type})`);
        const { op, type } = token;
        const parts = this.jointParams(name);
        foldBy(this.ir.params, extremumFold(op, type, parts));
        this.globals.bind(name, { kind: "extremum", name, op, type, parts });
        return;
      }
      case "reduceStruct":
        refuseInContainers(this.kernel, name, `a reduction of ${token.struct.name}`);
        this.globals.bind(name, { kind: "reduceStruct", name, struct: token.struct, parts: this.jointParams(name) });
        return;
      case "list":
        return requireListPolicy(this.kernel, name);
      case "table": {
        const table =
          tableOf(name, token) ?? this.fail(`the table "${name}" is not a full array of rank 1 to 4`, "give every row the same length");
        this.ir.tables.push(table);
        this.globals.bind(name, { kind: "table", name, type: token.type, shape: table.shape, prefix: [] });
        return;
      }
      default:
        this.fail(
          `the parameter "${name}" is declared as ${tokenText(token satisfies undefined)}`,
          "declare f64, view(f64), scatter(f64), sum(f64), table(f64, [...]), fixed(i32), a number, true, false or a function",
        );
    }
  }

  /** Declares the parts of a joint reduction, whose fold comes later. */
  private jointParams(name: string): string[] {
    const parts = this.partsOf(name).map((part) => partParam(part.name, part.token as ReduceToken));
    this.ir.params.push(...parts);
    return parts.map((part) => part.name);
  }

  private partsOf(name: string) {
    return namedParts(this.kernel.params).get(name)!;
  }

  /** Declares the next number of a parameter that has several. */
  private nextPart(name: string, type: string): (type: NumericType) => ScalarValue {
    if (this.kernel.policy !== "range" && this.kernel.policy !== "team")
      this.fail(
        `the parameter "${name}" is a ${type}, which containers do not take`,
        `list ${type} as a capture, and make the value in the body`,
      );
    const parts = this.partsOf(name).values();
    return (element) => {
      const part = parts.next().value!.name;
      this.ir.params.push({ kind: "scalar", name: part, type: element });
      return { kind: "scalar", expr: { op: "param", type: element, name: part } };
    };
  }

  private structParam(name: string, struct: StructType): void {
    this.globals.bind(name, recordFrom(struct, this.nextPart(name, struct.name)));
  }

  /** An array of records: a view for each field. */
  private structView(name: string, { struct, rank, disjoint }: StructViewToken): void {
    if (this.kernel.policy !== "range" && this.kernel.policy !== "team")
      this.fail(`the parameter "${name}" is an array of ${struct.name}, which containers do not take`, "use a field for each part");
    const parts = this.partsOf(name).values();
    const next = (): LoweredValue => {
      const part = parts.next().value!;
      const { element, rank: whole, of } = part.token as ViewToken;
      this.ir.params.push({ kind: "view", name: part.name, element, rank: whole, disjoint });
      return { kind: "view", name: part.name, element: valueType(element), rank: whole, prefix: [], of };
    };
    this.globals.bind(name, structViewOf(name, rank, struct, next));
  }

  /** A value of several numbers that is given with each launch. */
  private compositeParam(name: string, of: CompositeType): void {
    const next = this.nextPart(name, of.name);
    this.globals.bind(
      name,
      compositeFrom(
        of,
        of.fields.map(() => next(of.element)),
      ),
    );
  }

  /** A reduction of several components becomes as many, each of which takes at the end what a private array holds. */
  private startEach(
    cx: Lowering,
    name: string,
    { type, op, identity }: Pick<ReduceToken, "type" | "op" | "identity">,
    length: number,
  ): void {
    const { location } = this.ir;
    const array = startHeld(cx, name, { type, op: op as ScatterOp }, length, location);
    this.globals.bind(name, { kind: "reduceEach", name, type, op: op as ScatterOp, array });
    for (let k = 0; k < length; k++) {
      const component = cx.unique(`${name}_${k}`);
      this.ir.params.push({
        kind: "reduce",
        name: component,
        type,
        op,
        identity: typedValue(type, identity),
        part: { of: name, component: k },
      });
      this.last.push({ kind: "reduce", target: component, value: { op: "element", type, array, index: int(k) }, location });
    }
  }

  private param(param: Param, value: LoweredValue): void {
    this.ir.params.push(param);
    this.globals.bind(param.name, value);
  }

  private fixedValue(name: string, token: FixedToken): PlainValue {
    const value = own(this.fixed, name);
    if (value === undefined) this.fail(`the fixed parameter "${name}" has no value`, "give it with the arguments");
    return token.type === "bool" ? Boolean(value) : typedValue(token.type, value);
  }

  private fail(problem: string, remedy: string): never {
    throw new KernelError(this.kernel.name, this.ir.location, problem, remedy);
  }
}

const hasComponents = (token: ReduceToken): token is ReduceIntoToken =>
  "into" in token && ((token as ReduceIntoToken).into.cardinality ?? 1) > 1;

const componentsOf = ({ components: [first, end] = [0, 1], components, into }: ReduceIntoToken): number =>
  components ? end - first : into.cardinality!;
