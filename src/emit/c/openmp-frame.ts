import type { AccessAnalysis } from "../../ir/analysis/access.js";
import { foldGroups } from "../../ir/joint.js";
import { identityOf } from "../../ir/identity.js";
import {
  REDUCTION_LANES,
  type NumericType,
  type ReduceParam,
  type ScatterOp,
  type ScatterParam,
  type Stmt,
  type ViewParam,
} from "../../ir/types.js";
import type { ScatterStrategy } from "../../ir/launch.js";
import { isFloat, type FloatType } from "../../ir/scalars.js";
import { walkStmts } from "../../ir/walk.js";
import type { BodyWriter } from "./body.js";
import type { Dialect, CFrame } from "./dialect.js";
import type { Faults } from "./faults.js";
import type { Names } from "../../base/names.js";
import { writeStreamedLoop } from "./streamed-loop.js";
import { slotInCache } from "./worker-cache.js";
import { paysInSegments, SIMD, writeElements, writeGroup, writeLeft, type ElementLoop } from "./uniform-segments.js";
import { isStraight, type LoopVariable, type VectorLoops } from "./vector.js";

type StmtOf<K extends Stmt["kind"]> = Extract<Stmt, { kind: K }>;
/** A reduce parameter, or a result of a teamReduce. */
type Folded = Pick<ReduceParam, "name" | "op" | "type" | "identity" | "combine" | "joint">;
type Accumulator = Folded & { variable: string };

/** How the updates of a scatter target are brought together. */
export interface ScatterUpdates {
  readonly param: ScatterParam;
  readonly strategy: ScatterStrategy;
  /** For a cached one: the variable with the worker's scatter cache. */
  readonly cache?: string;
}

/** The surroundings of a body that one worker runs, for one element or one team after the other. */
export class OpenMPFrame implements CFrame<BodyWriter> {
  private readonly accumulators = new Map<string, Accumulator>();
  /** Stores that go to a local line of elements instead of the view, which is streamed there afterwards. */
  redirect: ((stmt: StmtOf<"store">) => string | undefined) | undefined;
  /** Views whose cache lines the members of a team collect. */
  streamed: readonly ViewParam[] = [];
  /** Shared loops around what is being written: 1 for what a member does, 2 for its lanes. */
  private level = 0;

  constructor(
    private readonly dialect: Dialect,
    private readonly names: Names,
    private readonly indexNames: readonly string[],
    private readonly strideNames: Readonly<Record<string, readonly string[]>>,
    private readonly scatters: Readonly<Record<string, ScatterUpdates>>,
    private readonly useAtomic: (param: ScatterParam) => string,
    private readonly loops: VectorLoops,
    /** Reductions keep the order of strict mode. */
    private readonly ordered: boolean,
    /** Tells which views nobody writes; undefined if arguments may share memory. */
    private readonly constant: AccessAnalysis | undefined,
    /** In code with checked indices. */
    readonly checks?: Faults,
  ) {}

  index(axis: number): string {
    return this.indexNames[axis];
  }

  teamSize(): string {
    return "1";
  }

  extent(view: string, axis: number): string {
    return this.names.of("argument", `extent ${view} ${axis}`);
  }

  pointer(view: string): string {
    return this.names.of("view", view);
  }

  strides(view: string): readonly string[] {
    return this.strideNames[view];
  }

  /** With what notes a failure around it, where the indices are checked: of the element, or of its whole team. */
  element(body: BodyWriter, list: readonly Stmt[]): void {
    if (this.checks && body.ir.policy.kind === "range") this.checks.around(body, () => body.statements(list));
    else body.statements(list);
  }

  fault(_body: BodyWriter, site: number, at: string): string {
    return this.checks!.fault(site, at);
  }

  failed(): string {
    return this.checks!.failed;
  }

  /** Says which sums may be added up in another order than the turns make them. */
  lineBefore(stmt: StmtOf<"for">): string | undefined {
    const sums = this.sums(stmt);
    return sums.length > 0 ? `${SIMD} reduction(+:${sums.map((name) => this.names.of("local", name)).join(", ")})` : undefined;
  }

  private sums(stmt: StmtOf<"for">): readonly string[] {
    return this.ordered ? [] : this.loops.sums(stmt);
  }

  /** Compilers leave a loop with an assembler statement as it is. */
  turn(stmt: StmtOf<"for">): string | undefined {
    return this.sums(stmt).length === 0 && this.loops.gathers(stmt) ? '__asm__ volatile("");' : undefined;
  }

  store(body: BodyWriter, stmt: StmtOf<"store">, place: string, value: string): void {
    body.line(stmt, `${this.redirect?.(stmt) ?? place} = ${value};`);
  }

  scatter(body: BodyWriter, stmt: StmtOf<"scatter">, offset: string, value: string): void {
    const { param, strategy, cache } = this.scatters[stmt.target];
    if (cache) return this.fold(body, stmt, param, slotInCache(param, cache, this.pointer(stmt.target), offset), value);
    const place = `${this.pointer(stmt.target)}[${offset}]`;
    if (strategy === "atomic" && param.op === "sum") {
      body.code.line("#pragma omp atomic");
      body.line(stmt, `${place} += ${value};`);
    } else if (strategy === "atomic") body.line(stmt, `${this.useAtomic(param)}(&${place}, ${value});`);
    else if (param.op === "sum") body.line(stmt, this.added(body, param.element, place, value));
    else body.line(stmt, `${place} = ${body.fold(param.op, param.element, place, value)};`);
  }

  /** Folds a value into the element at a pointer. */
  private fold(body: BodyWriter, stmt: Stmt, { op, element }: ScatterParam, pointer: string, value: string): void {
    if (op === "sum") return body.line(stmt, `*${pointer} += ${value};`);
    body.code.block("", () => {
      const place = this.names.fresh("place");
      body.code.line(`${this.dialect.types[element]} *const ${place} = ${pointer};`);
      body.line(stmt, `*${place} = ${body.fold(op, element, `*${place}`, value)};`);
    });
  }

  /** A statement that adds to a place; integers wrap also where the compiler is not told so. */
  private added(body: BodyWriter, type: NumericType, place: string, value: string): string {
    if (this.dialect.signedWraps || isFloat(type)) return `${place} += ${value};`;
    return `${place} = ${body.fold("sum", type, place, `(${value})`)};`;
  }

  reduce(body: BodyWriter, stmt: StmtOf<"reduce">, value: string): void {
    const into = this.accumulators.get(stmt.target)!;
    if (into.op === "sum") return body.line(stmt, this.added(body, into.type, into.variable, value));
    if (into.op === "max" && isFloat(into.type) && areAbsolute(body.ir.body, stmt.target)) {
      const greatest = body.helpers.use(`max_abs_${into.type as FloatType}`);
      return body.line(stmt, `${into.variable} = ${greatest}(${into.variable}, ${value});`);
    }
    if (into.op !== "custom")
      return body.line(stmt, `${into.variable} = ${body.fold(into.op as ScatterOp, into.type, into.variable, value)};`);
    body.code.block("", () => {
      const merged = this.names.fresh("merged");
      body.line(stmt, `const ${this.dialect.types[into.type]} ${merged} = ${value};`);
      body.code.line(`${into.variable} = ${body.fold(into.combine!, into.type, into.variable, merged)};`);
    });
  }

  reduceJointly(body: BodyWriter, stmt: StmtOf<"reduceJointly">, values: readonly string[]): void {
    const parts = stmt.targets.map((target) => this.accumulators.get(target)!);
    const types = parts.map(({ type }) => type);
    body.code.block("", () => {
      const merged = values.map(() => this.names.fresh("merged"));
      values.forEach((value, n) => body.line(stmt, `const ${this.dialect.types[types[n]]} ${merged[n]} = ${value};`));
      body.foldJointly(
        { joint: parts[0].joint!, types },
        parts.map(({ variable }) => variable),
        merged,
      );
    });
  }

  /** Declares accumulators at their identities, for reduce statements that follow; gives their names. */
  accumulate(body: BodyWriter, params: readonly Folded[]): string[] {
    return params.map((param) => {
      const variable = this.names.fresh(param.name);
      this.accumulators.set(param.name, { ...param, variable });
      body.code.line(`${this.dialect.types[param.type]} ${variable} = ${this.identity(body, param)};`);
      return variable;
    });
  }

  /**
   * A loop over `begin` <= `counter` < `end` with its reduce statements; `tell` gets the results' expressions at the end. They fold into 8
   * lanes, element n into lane (n - begin) mod 8, which are combined in a tree: the order of strict reductions, and good for vectors. Where
   * neither is wanted they fold one after the other.
   */
  lanes(
    body: BodyWriter,
    params: readonly Folded[],
    variable: LoopVariable,
    counter: string,
    begin: string,
    end: string,
    stmts: readonly Stmt[],
    tell: (results: string[]) => void,
  ): void {
    const { code } = body;
    const { index } = this.dialect.types;
    const pays = paysInSegments(this.loops, { variable, body: stmts }, this.constant);
    if (!this.ordered && !pays) {
      const totals = this.accumulate(body, params);
      // Lanes have nothing to do with each other; gcc adds up in vectors only where it is told that the order does not matter.
      if (this.level > 1 && isStraight(stmts) && params.every(({ op }) => op === "sum"))
        code.line(`${SIMD} reduction(+:${totals.join(", ")})`);
      code.block(`for (${index} ${counter} = ${begin}; ${counter} < ${end}; ${counter}++)`, () => body.element(stmts));
      return tell(totals);
    }
    const arrays = params.map((p) => this.names.fresh(`${p.name}_lanes`));
    const variables = params.map((p) => this.names.fresh(`${p.name}_lane`));
    params.forEach((p, n) => {
      this.accumulators.set(p.name, { ...p, variable: variables[n] });
      const identities = Array(REDUCTION_LANES).fill(this.identity(body, p)).join(", ");
      code.line(`${this.dialect.types[p.type]} ${arrays[n]}[${REDUCTION_LANES}] = {${identities}};`);
    });
    const lane = this.names.fresh("lane");
    const length = begin === "0" ? end : `(${end} - ${begin})`;
    const element = (list: readonly Stmt[]) => {
      params.forEach((p, n) => code.line(`${this.dialect.types[p.type]} ${variables[n]} = ${arrays[n]}[${lane}];`));
      body.element(list);
      params.forEach((_, n) => code.line(`${arrays[n]}[${lane}] = ${variables[n]};`));
    };
    if (isStraight(stmts)) {
      const group = this.names.fresh("group");
      const rest = this.names.fresh("rest");
      code.line(`const ${index} ${rest} = ${end} - ${length} % ${REDUCTION_LANES};`);
      const member = (from: string, list: readonly Stmt[]) => {
        code.line(`const ${index} ${counter} = ${from} + ${lane};`);
        element(list);
      };
      // The inner loop has a constant number of turns, which makes it one or two vector instructions a statement.
      code.block(`for (${index} ${group} = ${begin}; ${group} < ${rest}; ${group} += ${REDUCTION_LANES})`, () =>
        writeGroup(body, this.loops, { variable, body: stmts, from: group, lane, lanes: REDUCTION_LANES }, this.constant, (list) =>
          member(group, list),
        ),
      );
      code.block(`for (${index} ${lane} = 0; ${lane} < ${end} - ${rest}; ${lane}++)`, () => member(rest, stmts));
    } else
      code.block(`for (${index} ${counter} = ${begin}; ${counter} < ${end}; ${counter}++)`, () => {
        code.line(`const ${index} ${lane} = (${counter} - ${begin}) % ${REDUCTION_LANES};`);
        element(stmts);
      });
    code.block(`for (int step = ${REDUCTION_LANES / 2}; step > 0; step /= 2)`, () =>
      code.block("for (int k = 0; k < step; k++)", () =>
        foldGroups(params).forEach((parts) => {
          const places = parts.map((p) => arrays[params.indexOf(p)]);
          writeFoldInto(
            body,
            parts,
            places.map((array) => `${array}[k]`),
            places.map((array) => `${array}[k + step]`),
          );
        }),
      ),
    );
    tell(arrays.map((array) => `${array}[0]`));
  }

  teamFor(body: BodyWriter, stmt: StmtOf<"teamFor">): void {
    const { index } = this.dialect.types;
    const count = body.integer(stmt.count);
    const counter = body.enter(stmt);
    const limit = this.names.fresh(`${counter}_count`);
    body.code.line(`const ${index} ${limit} = ${count};`);
    const loop: ElementLoop = { variable: { local: stmt.name }, counter, begin: "0", end: limit, body: stmt.body };
    const left = (begin: string, end: string) => this.below(() => writeLeft(body, this.loops, { ...loop, begin, end }, this.constant));
    if (this.streamed.length > 0) writeStreamedLoop(body, this, this.loops, loop, this.streamed, this.constant, left);
    else this.below(() => writeElements(body, this.loops, loop, this.constant));
  }

  teamReduce(body: BodyWriter, stmt: StmtOf<"teamReduce">): void {
    const { index, ...types } = this.dialect.types;
    const count = body.integer(stmt.count);
    const counter = body.enter(stmt);
    const results = stmt.results.map((r) => body.local(r.name));
    stmt.results.forEach((r, n) => body.line(stmt, `${types[r.type]} ${results[n]};`));
    body.code.block("", () => {
      const limit = this.names.fresh(`${counter}_count`);
      body.code.line(`const ${index} ${limit} = ${count};`);
      this.below(() =>
        this.lanes(
          body,
          stmt.results.map((r) => ({ ...r, identity: identityOf(r.op, r.type) })),
          { local: stmt.name },
          counter,
          "0",
          limit,
          stmt.body,
          (values) => values.forEach((value, n) => body.code.line(`${results[n]} = ${value};`)),
        ),
      );
    });
  }

  private below(write: () => void): void {
    this.level++;
    write();
    this.level--;
  }

  single(body: BodyWriter, stmt: StmtOf<"single">): void {
    body.code.block("", () => body.statements(stmt.body));
  }

  private identity(body: BodyWriter, param: { type: NumericType; identity: number | bigint }): string {
    return body.value({ op: "const", type: param.type, value: param.identity });
  }
}

/** Writes the fold of values into a reduction, or into the parts of a joint one; all are single terms. */
export function writeFoldInto(
  body: BodyWriter,
  parts: readonly Pick<Folded, "op" | "type" | "combine" | "joint">[],
  into: readonly string[],
  values: readonly string[],
): void {
  const [{ op, type, combine, joint }] = parts;
  if (joint) return body.foldJointly({ joint, types: parts.map((part) => part.type) }, into, values);
  const operation = op === "custom" ? combine! : (op as ScatterOp);
  body.code.line(`${into[0]} = ${body.fold(operation, type, into[0], values[0])};`);
}

/** True where all that is reduced to the target is an absolute value. */
function areAbsolute(body: readonly Stmt[], target: string): boolean {
  let absolute = true;
  walkStmts(body, (stmt) => {
    if (stmt.kind === "reduce" && stmt.target === target) absolute &&= stmt.value.op === "unary" && stmt.value.fn === "abs";
  });
  return absolute;
}
