import { LIBRARY } from "../c/dialect.js";
import { orderMatters } from "../../ir/identity.js";
import type { ReduceParam, ScatterParam, Stmt, ViewParam } from "../../ir/types.js";
import { BodyWriter } from "../c/body.js";
import { writeTable } from "../c/tables.js";
import { Code } from "../c/code.js";
import type { Dialect } from "../c/dialect.js";
import { Helpers } from "../c/helpers.js";
import { Names } from "../../base/names.js";
import { openmpDialect } from "../c/openmp-dialect.js";
import { OpenMPFrame } from "../c/openmp-frame.js";
import { chunkCount, writeChunkIndices, writeFold, type ChunkBounds } from "../c/partials.js";
import { VectorLoops } from "../c/vector.js";
import type { SignatureSlot } from "../../schedule/slots.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { argumentFor, INDEX_NAMES, launchArguments, parameterLines, writeComment, type Argument } from "./signature.js";
import { originText } from "../text.js";

/** C++17 with SYCL's functions, which devices compile without -fwrapv. */
const dialect: Dialect = {
  ...openmpDialect,
  name: "SYCL",
  tablePrefix: "static constexpr",
  signedWraps: false,
  printf: undefined,
  infinity: "std::numeric_limits<double>::infinity()",
  nan: "std::numeric_limits<double>::quiet_NaN()",
  math: (fn) => `sycl::${LIBRARY[fn]}`,
  helpers: {
    clz_u32: "int32_t clz_u32(uint32_t a) { return (int32_t)sycl::clz(a); }",
    mulhi_u32: "uint32_t mulhi_u32(uint32_t a, uint32_t b) { return sycl::mul_hi(a, b); }",
  },
};

/**
 * SYCL 2020, on memory shared by address: a work-item an element; where there are reductions one a chunk of a line, and one a team, whose
 * members it takes one after the other.
 */
export function emitSyclFile(request: EmitRequest): EmittedFile[] {
  return [{ name: `${request.stem}.sycl.cpp`, text: new SyclWriter(request).text() }];
}

/** Atomic updates as SYCL has them. */
class SyclFrame extends OpenMPFrame {
  constructor(
    private readonly inOrder: boolean,
    ...rest: ConstructorParameters<typeof OpenMPFrame>
  ) {
    super(...rest);
  }

  override scatter(body: BodyWriter, stmt: Extract<Stmt, { kind: "scatter" }>, offset: string, value: string): void {
    if (this.inOrder) return super.scatter(body, stmt, offset, value);
    const { op, element } = body.ir.params.find((p): p is ScatterParam => p.kind === "scatter" && p.name === stmt.target)!;
    const T = dialect.types[element];
    const reference = `sycl::atomic_ref<${T}, sycl::memory_order::relaxed, sycl::memory_scope::device>`;
    body.line(stmt, `${reference}(${this.pointer(stmt.target)}[${offset}]).${METHODS[op]}(${value});`);
  }
}

const METHODS = { sum: "fetch_add", min: "fetch_min", max: "fetch_max" };

class SyclWriter {
  private readonly names = new Names();
  private readonly helpers = new Helpers(dialect);
  private readonly args: readonly Argument[];
  private readonly indices: readonly string[];
  private readonly reductions: readonly ReduceParam[];
  private readonly frame: SyclFrame;
  /** One work-item does it all, because elements add into arrays and their order matters. */
  private readonly ordered: boolean;

  constructor(private readonly request: EmitRequest) {
    const { ir, access, precision, unitStrides } = request;
    this.args = launchArguments(request, this.names);
    this.reductions = ir.params.filter((p) => p.kind === "reduce");
    const arrays = ir.params.filter((p): p is ViewParam | ScatterParam => p.kind === "view" || p.kind === "scatter");
    const strides = Object.fromEntries(
      arrays.map(({ name }) => [name, unitStrides[name].map((unit, axis) => (unit ? "1" : this.arg({ kind: "stride", name, axis })))]),
    );
    // A team has a row of scratch for itself.
    this.indices = ir.policy.kind === "team" ? ["team", "team"] : INDEX_NAMES.slice(0, ir.policy.rank);
    this.ordered = precision === "strict" && arrays.some((p) => p.kind === "scatter" && orderMatters(p));
    const scatters = arrays.flatMap((param) =>
      param.kind === "scatter" ? [[param.name, { param, strategy: "sorted" } as const] as const] : [],
    );
    const loops = new VectorLoops(ir, (view) => strides[view]);
    const strict = precision === "strict";
    const noFunction = (): never => {
      throw new Error("atomic updates are methods");
    };
    this.frame = new SyclFrame(
      this.ordered,
      dialect,
      this.names,
      this.indices,
      strides,
      Object.fromEntries(scatters),
      noFunction,
      loops,
      strict,
      access,
    );
  }

  text(): string {
    const { ir, stem, precision } = this.request;
    const launch = new Code();
    if (ir.policy.kind === "team" || this.reductions.length > 0) this.units(launch);
    else this.elements(launch);
    const folds = new Code();
    for (const param of this.reductions) writeFold(this.writer(folds), param, this.arg({ kind: "result", name: param.name }));
    const code = new Code();
    code.line(`// ${originText(ir)} as SYCL 2020, ${precision}.`);
    code.line(`// icpx -fsycl -O3${precision === "strict" ? " -fp-model=precise -ffp-contract=off" : ""} -c ${stem}.sycl.cpp`);
    code.line(`// acpp -O3${precision === "strict" ? " -ffp-contract=off" : ""} -c ${stem}.sycl.cpp`);
    for (const header of ["cstdint", "limits", "vector", "sycl/sycl.hpp"]) code.line(`#include <${header}>`);
    code.line();
    for (const table of ir.tables)
      writeTable(code, table, dialect, this.names, (type, value) => this.writer(code).value({ op: "const", type, value }));
    const helpers = this.helpers.toString().trimEnd();
    if (helpers !== "") code.text(helpers);
    if (helpers !== "" || ir.tables.length > 0) code.line();
    if (this.reductions.length > 0) code.text(folds.toString().trimEnd()).line();
    writeComment(code, this.request, this.args, [
      "Arrays are in memory that the queue's device reaches by address (malloc_device, malloc_shared); results are in the host's.",
      this.reductions.length > 0
        ? "Waits for the results. Passes on SYCL's exceptions."
        : "Gives the kernel's event. Passes on SYCL's exceptions.",
    ]);
    code.line(`sycl::event ${stem}_launch(`);
    code.indented(() => parameterLines(this.args, declaration, ["sycl::queue &queue"]).forEach((line) => code.line(line)));
    code.line(")");
    // Drops hints to OpenMP, which mean nothing here.
    code.text(
      launch
        .toString()
        .trimEnd()
        .replaceAll(/^ *#pragma omp simd\n/gm, ""),
    );
    return code.toString();
  }

  private arg(slot: SignatureSlot): string {
    return argumentFor(this.args, slot).name;
  }

  private writer(code: Code): BodyWriter {
    return new BodyWriter(code, this.request.ir, dialect, this.frame, this.names, this.helpers, "small");
  }

  private get bounds(): ChunkBounds[] {
    return this.indices.map((_, axis) => [this.arg({ kind: "begin", axis }), this.arg({ kind: "end", axis })]);
  }

  private elements(code: Code): void {
    const { indices, bounds } = this;
    const { ir } = this.request;
    code.block("", () => {
      if (this.ordered) return this.inOrder(code);
      const counts = bounds.map(([begin, end]) => `(size_t)(${end} - ${begin})`);
      // Ranges have three dimensions at most.
      const sizes = counts.length > 3 ? [`${counts[0]} * ${counts[1]}`, ...counts.slice(2)] : counts;
      code.line(`if (${bounds.map(([begin, end]) => `${end} <= ${begin}`).join(" || ")}) return {};`);
      code.block(
        `return queue.parallel_for(sycl::range<${sizes.length}>(${sizes.join(", ")}), [=](sycl::id<${sizes.length}> at)`,
        () => {
          const places =
            counts.length > 3 ? [`at[0] / ${counts[1]}`, `at[0] % ${counts[1]}`, "at[1]", "at[2]"] : counts.map((_, axis) => `at[${axis}]`);
          indices.forEach((name, axis) => code.line(`const int64_t ${name} = ${bounds[axis][0]} + (int64_t)(${places[axis]});`));
          this.writer(code).statements(ir.body);
        },
        ");",
      );
    });
  }

  private inOrder(code: Code): void {
    const nest = (axis: number): void => {
      if (axis === this.indices.length) return this.writer(code).statements(this.request.ir.body);
      const [name, [begin, end]] = [this.indices[axis], this.bounds[axis]];
      code.block(`for (int64_t ${name} = ${begin}; ${name} < ${end}; ${name}++)`, () => nest(axis + 1));
    };
    code.block("return queue.single_task([=]()", () => nest(0), ");");
  }

  /** A work-item a team or a chunk of a line, each with a partial result. */
  private units(code: Code): void {
    const { ir } = this.request;
    const team = ir.policy.kind === "team";
    code.block("", () => {
      const count = team ? this.arg({ kind: "league" }) : "partials";
      if (!team) {
        code.line(`const int64_t chunks = ${chunkCount(this.bounds.at(-1)!)};`);
        const lines = this.bounds.slice(0, -1).map(([begin, end]) => ` * (${end} - ${begin})`);
        code.line(`const int64_t partials = chunks${lines.join("")};`);
      }
      const places = this.reductions.map(({ name, type }) => {
        const place = this.names.fresh(`${this.arg({ kind: "result", name })}_partials`);
        const T = dialect.types[type];
        code.line(`${T} *${place} = sycl::malloc_device<${T}>(${count} + 1, queue);`);
        const result = this.arg({ kind: "result", name });
        return { place, T, result, host: this.names.fresh(`${result}_host`) };
      });
      for (const { T, host } of places) code.line(`std::vector<${T}> ${host}(${count} + 1);`);
      code.line("sycl::event done;");
      code.block(`if (${count} > 0)`, () => {
        this.submitUnits(
          code,
          count,
          places.map(({ place }) => place),
        );
        for (const { place, host } of places) code.line(`queue.copy(${place}, ${host}.data(), (size_t)${count}, done).wait();`);
      });
      for (const { place, host, result } of places)
        code.line(`*${result} = ${result}_fold(${host}.data(), ${count});`).line(`sycl::free(${place}, queue);`);
      code.line("return done;");
    });
  }

  private submitUnits(code: Code, count: string, places: readonly string[]): void {
    if (this.ordered) {
      const loop = `for (int64_t ${this.unit} = 0; ${this.unit} < ${count}; ${this.unit}++)`;
      return void code.block("done = queue.single_task([=]()", () => code.block(loop, () => this.unitBody(code, places)), ");");
    }
    code.block(
      `done = queue.parallel_for(sycl::range<1>((size_t)${count}), [=](sycl::id<1> at)`,
      () => {
        code.line(`const int64_t ${this.unit} = (int64_t)at[0];`);
        this.unitBody(code, places);
      },
      ");",
    );
  }

  /** The variable that counts teams or chunks. */
  private get unit(): string {
    return this.request.ir.policy.kind === "team" ? this.indices[0] : "partial";
  }

  private unitBody(code: Code, places: readonly string[]): void {
    const { ir } = this.request;
    const body = this.writer(code);
    const leave = (values: readonly string[]) => places.forEach((place, n) => code.line(`${place}[${this.unit}] = ${values[n]};`));
    if (ir.policy.kind === "team") {
      const totals = this.frame.accumulate(body, this.reductions);
      body.statements(ir.body);
      return leave(totals);
    }
    writeChunkIndices(code, this.indices, this.bounds);
    const inner = this.indices.length - 1;
    this.frame.lanes(body, this.reductions, { index: inner }, this.indices[inner], "begin", "end", ir.body, leave);
  }
}

function declaration({ name, type, element, written }: Argument): string {
  if (type !== "pointer") return `${dialect.types[type]} ${name}`;
  return `${written ? "" : "const "}${dialect.types[element!]} *${name}`;
}
