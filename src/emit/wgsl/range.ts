import { foldGroups } from "../../ir/joint.js";
import { unreachable } from "../../base/unreachable.js";
import { jam, splitUniform, type Jam } from "../../ir/passes/jam.js";
import { REDUCTION_CHUNK, REDUCTION_LANES, type ReduceParam, type ScatterParam } from "../../ir/types.js";
import type { WgslBodyWriter } from "./body.js";
import { foldAll, foldLanesOf, foldStatement, foldWorkgroup, LINEAR_WORKGROUP } from "./folds.js";
import type { WgslStmtOf } from "./frame.js";
import { WGSL_TYPES, viewPlace, WORKGROUP, wordsOf, zeroVariable, type ShaderEntry, type Traversal } from "./shader-program.js";
import type { Cells } from "./subgroups.js";
import { clearWord, copyType, isChanged, readCopy, WorkgroupCache } from "./workgroup-cache.js";
import { EntryWriter, type ProgramWriter } from "./writer.js";

const AXES = ["i", "j", "k", "l"];
const LANES = REDUCTION_LANES;
const CHUNK = REDUCTION_CHUNK;

/** Invocations along the last axis of a workgroup in more than one dimension. */
const WORKGROUP_ROW = 64;

/** The main shader of a range kernel. */
export class RangeWriter extends EntryWriter {
  protected readonly indexNames: readonly string[];
  private readonly rank: number;
  private readonly accumulators = new Map<string, string>();
  private readonly copies = new Map<string, string>();
  private readonly caches = new Map<string, WorkgroupCache>();
  private readonly slots = new Map<string, string>();
  /** Variables of an element's first failure, in code with checked indices: its site, counted from 1, and 0 before; and the index. */
  /** Several elements at a time, which share out a range of one axis. */
  readonly several: Jam | undefined;
  private readonly failure: { readonly site: string; readonly index: string } | undefined;

  constructor(
    program: ProgramWriter,
    private readonly traversal: Exclude<Traversal, "teams">,
  ) {
    super(program, "main");
    this.rank = program.ir.policy.kind === "range" ? program.ir.policy.rank : 1;
    this.indexNames = AXES.slice(0, this.rank);
    for (const { name } of program.reduces) this.accumulators.set(name, this.names.fresh(name));
    const { elements = 1 } = program.assumptions;
    const several = traversal === "elements" && this.rank === 1 ? jam(this.ir, 0, elements, this.threads) : undefined;
    this.several = several?.guard ? undefined : several;
    if (this.ir.checks) this.failure = { site: this.names.fresh("failed"), index: this.names.fresh("failed_index") };
  }

  entry(): ShaderEntry {
    switch (this.traversal) {
      case "elements":
      case "strided":
        this.grid();
        return this.finish(this.rank === 1 ? [this.threads, 1, 1] : [WORKGROUP_ROW, this.threads / WORKGROUP_ROW, 1]);
      case "segments":
        this.grid();
        return this.finish([WORKGROUP, 1, 1]);
      case "chunks":
        this.chunks();
        return this.finish([WORKGROUP, 1, 1]);
      case "serial":
        this.serial();
        return this.finish([1, 1, 1]);
      default:
        return unreachable(this.traversal);
    }
  }

  reduce(body: WgslBodyWriter, stmt: WgslStmtOf<"reduce">, value: string): void {
    const param = this.program.reduces.find((p) => p.name === stmt.target)!;
    body.line(stmt, this.foldInto(param, param.type, this.accumulators.get(stmt.target)!, value));
  }

  override reduceJointly(_body: WgslBodyWriter, stmt: WgslStmtOf<"reduceJointly">, values: readonly string[]): void {
    foldStatement(this, stmt, values, this.accumulators);
  }

  protected override atomicCopy({ name, op, element }: ScatterParam, position: string, value: string): string {
    return this.atomic(this.copies.get(name)!, copyType(element), op, element, position, value);
  }

  protected override slotOf(target: string): string {
    return this.slots.get(target)!;
  }

  /* A grid over the elements: x along the last axis. Numbers of elements are u32, so that the last step of a stride does not wrap to below zero. */

  private get threads(): number {
    return (this.traversal === "elements" ? this.program.assumptions.threads : undefined) ?? WORKGROUP;
  }

  private grid(): void {
    const folding = this.traversal !== "elements";
    if (folding) this.open();
    if (this.several) this.together(this.several);
    else if (this.traversal === "segments") this.segment();
    else this.axis(this.rank === 4 ? -1 : 0);
    if (!folding) return;
    this.closeCopies();
    const foldings = this.program.reduces.map((result) => ({ result, accumulator: this.accumulators.get(result.name)! }));
    const cellsOf: Cells = (type, n, length) => this.shared(`cells_${type}_${n}`, `array<${WGSL_TYPES[type]}, ${length}>`);
    const group = "i32((workgroup.z * workgroups.y + workgroup.y) * workgroups.x + workgroup.x)";
    foldWorkgroup(this, foldings, WORKGROUP, cellsOf, ({ result }, value) =>
      this.code.line(`if thread == 0 { ${this.writePartial(result, group, value)} }`),
    );
  }

  /** The loops from axis `a` inwards; -1 stands for the two outer axes of a range of rank 4, which share z. */
  private axis(a: number): void {
    const { code } = this;
    const dimension = a === -1 ? "z" : "xyz"[this.rank - 1 - a];
    const size = dimension === "z" ? 1 : this.rank === 1 ? this.threads : dimension === "x" ? WORKGROUP_ROW : this.threads / WORKGROUP_ROW;
    const n = this.names.fresh(a === -1 ? "outer" : `n_${AXES[a]}`);
    const count = a === -1 ? `u32(${this.count(0)}) * u32(${this.count(1)})` : `u32(${this.count(a)})`;
    const stride = `workgroups.${dimension}${size === 1 ? "" : ` * ${size}u`}`;
    code.block(`for (var ${n} = invocation.${dimension}; ${n} < ${count}; ${n} += ${stride})`, () => {
      if (a === -1) {
        code.line(`let ${this.indexNames[0]} = ${this.begin(0)} + i32(${n} / u32(${this.count(1)}));`);
        code.line(`let ${this.indexNames[1]} = ${this.begin(1)} + i32(${n} % u32(${this.count(1)}));`);
        return this.axis(2);
      }
      code.line(`let ${this.indexNames[a]} = ${this.begin(a)} + i32(${n});`);
      if (a === this.rank - 1) this.element();
      else this.axis(a + 1);
    });
  }

  /** Elements of one axis that an invocation works on together; after the last whole group, one at a time. */
  private together({ count, body }: Jam): void {
    const { code } = this;
    const [first, n] = [this.names.fresh("first"), this.names.fresh("n")];
    const all = `u32(${this.count(0)})`;
    const index = (at: string): string => `let ${this.indexNames[0]} = ${this.begin(0)} + i32(${at});`;
    const group = this.threads * count;
    const start = `workgroup.x * ${group}u + thread_number`;
    code.block(`for (var ${first} = ${start}; ${first} < ${all}; ${first} += workgroups.x * ${group}u)`, () => {
      code.block(`if ${all} - ${first} > ${group - this.threads}u`, () => {
        code.line(index(first));
        this.body.statements([...splitUniform(this.ir.body, 0).head, ...body]);
        code.line("continue;");
      });
      code.block(`for (var ${n} = ${first}; ${n} < ${all}; ${n} += ${this.threads}u)`, () => {
        code.line(index(n));
        this.element();
      });
    });
  }

  /** The workgroup's segment of the elements, which count in row-major order. */
  private segment(): void {
    const { code } = this;
    const [first, stop, n, rest] = ["first", "stop", "n", "rest"].map((wish) => this.names.fresh(wish));
    const [elements, segment] = [this.field({ kind: "elements" }), this.field({ kind: "segment" })];
    code.line(`let ${first} = u32(${LINEAR_WORKGROUP}) * u32(${segment});`);
    code.line(`let ${stop} = min(${first} + u32(${segment}), u32(${elements}));`);
    code.block(`for (var ${n} = ${first} + u32(thread); ${n} < ${stop}; ${n} += ${WORKGROUP}u)`, () => {
      if (this.rank > 1) code.line(`var ${rest} = i32(${n});`);
      for (let a = this.rank - 1; a > 0; a--) {
        code.line(`let ${this.indexNames[a]} = ${this.begin(a)} + ${rest} % ${this.count(a)};`);
        code.line(`${rest} /= ${this.count(a)};`);
      }
      code.line(`let ${this.indexNames[0]} = ${this.begin(0)} + ${this.rank > 1 ? rest : `i32(${n})`};`);
      this.element();
    });
  }

  /* Strict reductions: invocations 8c .. 8c+7 are the lanes of chunk c. */

  private chunks(): void {
    const { code } = this;
    const [chunk, lane, stop] = ["chunk", "lane", "stop"].map((wish) => this.names.fresh(wish));
    const name = this.indexNames[this.rank - 1];
    this.open();
    code.line(`let ${lane} = thread % ${LANES};`);
    code.line(`let ${chunk} = ${LINEAR_WORKGROUP} * ${WORKGROUP / LANES} + thread / ${LANES};`);
    code.block(`if ${chunk} < ${this.field({ kind: "chunks" })}`, () => {
      const start = this.line(chunk);
      code.line(`let ${stop} = min(${start} + ${CHUNK}u, u32(${this.count(this.rank - 1)}));`);
      const n = this.names.fresh("n");
      code.block(`for (var ${n} = ${start} + u32(${lane}); ${n} < ${stop}; ${n} += ${LANES}u)`, () => {
        code.line(`let ${name} = ${this.begin(this.rank - 1)} + i32(${n});`);
        this.element();
      });
    });
    this.closeCopies();
    for (const parts of foldGroups(this.program.reduces)) {
      const cells = parts.map((param) => this.cells(param));
      foldLanesOf(
        this,
        parts,
        cells,
        parts.map(({ name }) => this.accumulators.get(name)!),
      );
      const stores = parts.map((param, n) => this.writePartial(param, chunk, `${cells[n]}[thread]`));
      code.line(`if ${lane} == 0 && ${chunk} < ${this.field({ kind: "chunks" })} { ${stores.join(" ")} }`);
    }
  }

  /** Declares the outer indices of a chunk and gives the number, in its line, of its first element, a u32. */
  private line(chunk: string): string {
    const { code } = this;
    const start = this.names.fresh("start");
    if (this.rank === 1) {
      code.line(`let ${start} = u32(${chunk}) * ${CHUNK}u;`);
      return start;
    }
    const chunksPerLine = this.field({ kind: "chunksPerLine" });
    const line = this.names.fresh("line");
    code.line(`let ${start} = u32(${chunk} % ${chunksPerLine}) * ${CHUNK}u;`);
    code.line(`var ${line} = ${chunk} / ${chunksPerLine};`);
    for (let a = this.rank - 2; a >= 0; a--) {
      code.line(`let ${this.indexNames[a]} = ${this.begin(a)} + ${a > 0 ? `${line} % ${this.count(a)}` : line};`);
      if (a > 0) code.line(`${line} /= ${this.count(a)};`);
    }
    return start;
  }

  /* One invocation, all elements in order; folds go through the lanes of their chunk. */

  private serial(): void {
    const { code } = this;
    const [chunk, stop, n] = ["chunk", "stop", "n"].map((wish) => this.names.fresh(wish));
    const inner = this.rank - 1;
    const { reduces } = this.program;
    code.block(`for (var ${chunk} = 0; ${chunk} < ${this.field({ kind: "chunks" })}; ${chunk} += 1)`, () => {
      const start = this.line(chunk);
      const lanes = reduces.map(({ name, type, identity }) => {
        const array = this.names.fresh(`${name}_lanes`);
        code.line(zeroVariable(array, `array<${WGSL_TYPES[type]}, ${LANES}>`));
        code.line(`for (var lane = 0; lane < ${LANES}; lane += 1) { ${array}[lane] = ${this.body.constant(type, identity)}; }`);
        return array;
      });
      code.line(`let ${stop} = min(${start} + ${CHUNK}u, u32(${this.count(inner)}));`);
      code.block(`for (var ${n} = ${start}; ${n} < ${stop}; ${n} += 1u)`, () => {
        code.line(`let ${this.indexNames[inner]} = ${this.begin(inner)} + i32(${n});`);
        reduces.forEach(({ name }, r) => this.accumulators.set(name, `${lanes[r]}[(${n} - ${start}) % ${LANES}]`));
        this.element();
      });
      for (const parts of foldGroups(this.program.reduces)) {
        const own = parts.map((param) => lanes[reduces.indexOf(param)]);
        code.block(`for (var step = ${LANES / 2}; step > 0; step /= 2)`, () =>
          code.block("for (var lane = 0; lane < step; lane += 1)", () =>
            foldAll(
              this,
              parts,
              own.map((array) => `${array}[lane]`),
              own.map((array) => `${array}[lane + step]`),
            ),
          ),
        );
        parts.forEach((param, n) => code.line(this.writePartial(param, chunk, `${own[n]}[0]`)));
      }
    });
  }

  /* Pieces. */

  override fault(body: WgslBodyWriter, site: number, at: string): void {
    const { site: failed, index } = this.failure!;
    body.code.line(`if ${failed} == 0 { ${failed} = ${site + 1}; ${index} = ${at}; }`);
  }

  override failed(): string {
    return `(${this.failure!.site} != 0)`;
  }

  private element(): void {
    const { failure } = this;
    if (failure) this.code.line(`var ${failure.site} = 0;`).line(`var ${failure.index} = 0;`);
    for (const { name: target } of this.program.scatters("sorted")) {
      const position = this.indexNames
        .map((name, a) => `(${name} - ${this.begin(a)})`)
        .reduce((sum, index, a) => `(${sum} * ${this.count(a)} + ${index})`);
      const slot = this.names.fresh(`${target}_slot`);
      this.slots.set(target, slot);
      this.code.line(`var ${slot} = ${position} * ${this.field({ kind: "slots", name: target })};`);
    }
    this.body.statements(this.ir.body);
    if (!failure) return;
    this.code.line(`if ${failure.site} != 0 { ${this.noteFailure(`${failure.site} - 1`, failure.index, this.indexNames)} }`);
  }

  protected override cacheOf(target: string): WorkgroupCache {
    return this.caches.get(target)!;
  }

  /** Memory into which a workgroup folds: copies and scatter caches of targets, and a value of each reduction for each invocation. */
  private open(): void {
    const { code } = this;
    code.line("let thread = i32(thread_number);");
    const targets = this.program.scatters("shared");
    for (const target of targets) {
      const { name, op, element } = target;
      const words = this.program.assumptions.copies[name] * wordsOf(element);
      const word = copyType(element) === "atomic_i32" ? "i32" : "u32";
      const copy = this.shared(`${name}_copy`, `array<atomic<${word}>, ${words}>`);
      this.copies.set(name, copy);
      // The workgroup's memory is zero at first.
      if (op === "sum") continue;
      code.line(`for (var n = thread; n < ${words}; n += ${WORKGROUP}) { ${clearWord(this, target, copy, "n")} }`);
    }
    for (const target of this.program.scatters("cached")) {
      const cache = new WorkgroupCache(this, target, this.program.assumptions.scatterCacheLines!);
      this.caches.set(target.name, cache);
      cache.open();
    }
    if (targets.length + this.caches.size > 0) code.line("workgroupBarrier();");
    for (const { name, type, identity } of this.program.reduces)
      code.line(`var ${this.accumulators.get(name)}: ${WGSL_TYPES[type]} = ${this.body.constant(type, identity)};`);
  }

  private closeCopies(): void {
    if (this.copies.size + this.caches.size === 0) return;
    const { code } = this;
    code.line("workgroupBarrier();");
    for (const cache of this.caches.values()) cache.close();
    const [n, own] = [this.names.fresh("n"), this.names.fresh("own")];
    for (const [name, copy] of this.copies) {
      const param = this.program.array(name) as ScatterParam;
      const { op, element } = param;
      code.block(`for (var ${n} = thread; ${n} < ${this.program.assumptions.copies[name]}; ${n} += ${WORKGROUP})`, () => {
        code.block(`if ${isChanged(this, param, copy, n)}`, () => {
          code.line(`let ${own} = ${readCopy(param, copy, n)};`);
          const offset = this.offsetOf(name, n);
          const target = this.buffer(viewPlace(name), true);
          code.line(this.atomic(target.name, target.representation, op, element, offset, own));
        });
      });
    }
  }

  private cells({ name, type }: ReduceParam): string {
    return this.shared(`${name}_cells`, `array<${WGSL_TYPES[type]}, ${WORKGROUP}>`);
  }

  private begin(a: number): string {
    return this.field({ kind: "begin", axis: a });
  }
  private count(a: number): string {
    return this.field({ kind: "count", axis: a });
  }
}
