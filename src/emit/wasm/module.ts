import { REDUCTION_CHUNK, REDUCTION_LANES } from "../../ir/types.js";
import type { Expr, KernelIR, Stmt } from "../../ir/types.js";
import { someExpr, walkExprs, walkStmts } from "../../ir/walk.js";
import { BYTES } from "../../device/view.js";
import type { RangePolicy, TeamPolicy } from "../../device/policy.js";
import { axisOrder } from "./axis-order.js";
import { InnerLoop } from "./inner-loop.js";
import type { Width } from "./inner-loop.js";
import { KernelCode, valType } from "./kernel-code.js";
import type { WasmSpec } from "./kernel-code.js";
import { Accumulator } from "./reduction.js";
import type { Fold } from "./reduction.js";
import { ScalarCode } from "./scalar.js";
import type { MemberLoop } from "./scalar.js";
import { scalarReason } from "./width.js";

export type { WasmSpec } from "./kernel-code.js";

/** A module and what must be known to run it. */
export interface WasmKernel {
  /** Exports `run(args, worker, workers)`; imports `env.memory` and functions of `Math`. */
  bytes: Uint8Array<ArrayBuffer>;
  /** Byte offsets of the entries of the argument block. */
  slots: Readonly<Record<string, number>>;
  /** Private memory of each worker. */
  scratchBytes: number;
  /** What the memory of the tables must hold. */
  tableBytes: Uint8Array;
  /**
   * Partials of a reduce parameter of `size` bytes: one for each chunk of 256 elements or each team, or (`workers`) a line of 64 bytes for each
   * worker, that must hold the identity before a run.
   */
  partials: "units" | "workers";
  decisions: string[];
}

/** Bytes that each worker has for its lanes of a reduction in fast mode. */
export const LANE_BYTES = 64;
/** Elements that one call of `slice` works through, about. */
const SLICE = 16384;
/** Teams in one call of `slice`. */
const TEAM_SLICE = 8;

/**
 * Compiles a kernel to a WebAssembly module, specialised on extents, strides, precision and scatter strategies. Where some view is larger
 * than the memory can be, addresses wrap: the caller checks.
 */
export function emitWasm(spec: WasmSpec): WasmKernel {
  const code = new KernelCode(spec);
  if (spec.policy.kind === "range") emitRange(code, spec.policy);
  else emitTeams(code, spec.policy);
  return {
    bytes: code.module.bytes(),
    slots: code.slots,
    scratchBytes: code.scratchBytes,
    tableBytes: code.tableBytes,
    partials: spec.policy.kind === "team" || code.strict ? "units" : "workers",
    decisions: code.decisions,
  };
}

/** Work is counted in units of REDUCTION_CHUNK elements of a line; unit = line * (units of a line) + chunk. */
function emitRange(code: KernelCode, policy: RangePolicy): void {
  const { fn, spec } = code;
  const order = axisOrder(code, policy);
  const begin = order.map((axis) => policy.begin[axis]);
  const extents = order.map((axis) => policy.extents[axis]);
  const axis = extents.length - 1;
  const unitsOfLine = Math.ceil(extents[axis] / REDUCTION_CHUNK);
  const lines = extents.slice(0, axis).reduce((a, b) => a * b, 1);
  const accumulators = new Map(code.reductions.map((p) => [p.name, code.strict ? privateLanes(code, p) : workersLanes(code, p)]));
  const byUnit = code.strict && accumulators.size > 0;

  const [unit, line, chunk, from, count] = [fn.local("i32"), fn.local("i32"), fn.local("i32"), fn.local("i32"), fn.local("i32")];
  fn.get(2);
  fn.set(unit);
  const top = fn.loop();
  fn.get(unit);
  if (unitsOfLine > 1) {
    fn.i32(unitsOfLine);
    fn.op("i32.div_u");
  }
  fn.tee(line);
  fn.i32(-unitsOfLine);
  fn.op("i32.mul");
  fn.get(unit);
  fn.op("i32.add");
  fn.set(chunk);
  setOuterIndices(code, line, order, begin, extents);
  // From here on `count` are first the units to do, then the elements.
  if (byUnit) fn.i32(1);
  else
    least(
      code,
      () => {
        fn.i32(unitsOfLine);
        fn.get(chunk);
        fn.op("i32.sub");
      },
      () => {
        fn.get(3);
        fn.get(unit);
        fn.op("i32.sub");
      },
    );
  fn.tee(count);
  fn.get(unit);
  fn.op("i32.add");
  fn.set(unit);
  least(
    code,
    () => {
      fn.get(count);
      fn.i32(Math.log2(REDUCTION_CHUNK));
      fn.op("i32.shl");
    },
    () => {
      fn.i32(extents[axis]);
      fn.get(chunk);
      fn.i32(Math.log2(REDUCTION_CHUNK));
      fn.op("i32.shl");
      fn.op("i32.sub");
    },
  );
  fn.set(count);
  fn.get(chunk);
  fn.i32(Math.log2(REDUCTION_CHUNK));
  fn.op("i32.shl");
  fn.i32(begin[axis]);
  fn.op("i32.add");
  fn.set(from);
  const variable = { op: "index", type: "i32", axis: order[axis] } as const;
  const width = chooseWidth(code, spec.ir.body, variable, "elements");
  new InnerLoop(code, { variable, body: spec.ir.body, width, accumulators }).emit(from, count);
  if (byUnit)
    for (const a of accumulators.values())
      storePartial(
        code,
        a.fold,
        () => {
          fn.get(unit);
          fn.i32(1);
          fn.op("i32.sub");
        },
        () => a.result(),
      );
  fn.get(unit);
  fn.get(3);
  fn.op("i32.lt_u");
  fn.brIf(top);
  fn.end();
  emitRun(code, lines * unitsOfLine, Math.max(1, Math.round(SLICE / Math.max(1, Math.min(REDUCTION_CHUNK, extents[axis])))));
}

function setOuterIndices(
  code: KernelCode,
  line: number,
  order: readonly number[],
  begin: readonly number[],
  extents: readonly number[],
): void {
  const { fn } = code;
  for (let axis = extents.length - 2; axis >= 0; axis--) {
    fn.get(line);
    if (axis > 0) {
      fn.i32(extents[axis]);
      fn.op("i32.rem_u");
    }
    fn.i32(begin[axis]);
    fn.op("i32.add");
    fn.set(code.localOf(`index:${order[axis]}`, "i32"));
    if (axis === 0) return;
    fn.get(line);
    fn.i32(extents[axis]);
    fn.op("i32.div_u");
    fn.set(line);
  }
}

/** A worker runs one team after the other; a team's members are the lanes of vectors. */
function emitTeams(code: KernelCode, { league }: TeamPolicy): void {
  const { fn, spec } = code;
  const team = code.localOf("index:0", "i32");
  const partials = new Map(code.reductions.map((p) => [p.name, { fold: p, local: fn.local(valType(p.type)) }]));
  const reduce = (target: string, value: () => void): void => {
    const { fold, local } = partials.get(target)!;
    foldScalar(code, scalar, fold, local, value);
  };
  const scalar: ScalarCode = new ScalarCode(code, undefined, { reduce, memberLoop: (stmt) => emitMemberLoop(code, stmt, reduce) });
  fn.get(2);
  fn.set(team);
  const top = fn.loop();
  for (const { fold, local } of partials.values()) {
    scalar.constant(fold.type, fold.identity);
    fn.set(local);
  }
  scalar.statements(spec.ir.body);
  for (const { fold, local } of partials.values())
    storePartial(
      code,
      fold,
      () => fn.get(team),
      () => fn.get(local),
    );
  fn.get(team);
  fn.i32(1);
  fn.op("i32.add");
  fn.tee(team);
  fn.get(3);
  fn.op("i32.lt_u");
  fn.brIf(top);
  fn.end();
  emitRun(code, league, TEAM_SLICE);
}

function emitMemberLoop(code: KernelCode, stmt: MemberLoop, reduce: (target: string, value: () => void) => void): void {
  const { fn } = code;
  const scalar = new ScalarCode(code);
  const variable = { op: "local", type: "i32", name: stmt.name } as const;
  const results: Fold[] = stmt.kind === "teamReduce" ? stmt.results.map((r) => ({ ...r, identity: identityOf(r) })) : [];
  const accumulators = new Map(results.map((r) => [r.name, privateLanes(code, r)]));
  let foldsOutside = false;
  walkStmts(stmt.body, (s) => void (s.kind === "reduce" && !accumulators.has(s.target) && (foldsOutside = true)));
  const width = foldsOutside ? 1 : chooseWidth(code, stmt.body, variable, `members "${stmt.name}"`);
  const [from, count] = [fn.local("i32"), fn.local("i32")];
  fn.i32(0);
  fn.set(from);
  scalar.expr(stmt.count);
  fn.set(count);
  fn.get(count);
  fn.i32(0);
  fn.op("i32.gt_s");
  fn.if();
  new InnerLoop(code, { variable, body: stmt.body, width, accumulators, reduce }).emit(from, count);
  for (const a of accumulators.values()) {
    a.result();
    fn.set(code.localOf(a.fold.name, valType(a.fold.type)));
  }
  if (accumulators.size > 0) {
    fn.else();
    for (const { fold } of accumulators.values()) {
      scalar.constant(fold.type, fold.identity);
      fn.set(code.localOf(fold.name, valType(fold.type)));
    }
  }
  fn.end();
}

function foldScalar(code: KernelCode, scalar: ScalarCode, { op, type, combine }: Fold, local: number, value: () => void): void {
  const { fn } = code;
  if (combine) {
    value();
    fn.set(code.localOf(combine.b, valType(type)));
    fn.get(local);
    fn.set(code.localOf(combine.a, valType(type)));
    scalar.expr(combine.body);
  } else {
    fn.get(local);
    value();
    scalar.binary(op === "sum" ? "add" : (op as "min" | "max"), type);
  }
  fn.set(local);
}

const LIMITS = { f64: [Infinity, -Infinity], f32: [Infinity, -Infinity], i32: [0x7fffffff, -0x80000000], u32: [0xffffffff, 0] } as const;

function identityOf({ op, type }: Pick<Fold, "op" | "type">): number {
  return op === "sum" ? 0 : LIMITS[type][op === "min" ? 0 : 1];
}

/** Lanes that live for one chunk or one team. */
function privateLanes(code: KernelCode, fold: Fold): Accumulator {
  return new Accumulator(code, fold, code.scratch, code.reserve(REDUCTION_LANES * BYTES[fold.type]), false);
}

/** Lanes of the worker that live for the whole run, in the memory for partials. */
function workersLanes(code: KernelCode, fold: Fold): Accumulator {
  const { fn } = code;
  const base = fn.local(code.address.type);
  code.loadAddress(`partials:${fold.name}`);
  fn.get(1);
  code.address.scale(LANE_BYTES);
  code.address.add();
  fn.set(base);
  return new Accumulator(code, fold, base, 0, true);
}

function storePartial(code: KernelCode, { name, type }: Fold, index: () => void, value: () => void): void {
  const { fn } = code;
  code.loadAddress(`partials:${name}`);
  index();
  code.address.scale(BYTES[type]);
  code.address.add();
  value();
  fn.memory(`${valType(type)}.store`, 0);
}

/** Leaves the lesser of two unsigned numbers on the stack. */
function least(code: KernelCode, a: () => void, b: () => void): void {
  a();
  b();
  new ScalarCode(code).binary("min", "u32");
}

function chooseWidth(code: KernelCode, body: readonly Stmt[], variable: Extract<Expr, { op: "index" | "local" }>, what: string): Width {
  const width = holdsF64(code.spec.ir, body) ? 2 : 4;
  const reason = scalarReason(code, body, variable, width);
  code.decisions.push(reason ? `${what}: one at a time, ${reason}` : `${what}: ${width} lanes of a 128-bit vector`);
  return reason ? 1 : width;
}

/** True if some value has 64 bits. */
function holdsF64(ir: KernelIR, body: readonly Stmt[]): boolean {
  let found = false;
  const visit = (e: Expr): void => void (found ||= e.type === "f64");
  walkExprs(body, visit);
  walkStmts(body, (s) => {
    if (s.kind === "let" || s.kind === "array") found ||= s.type === "f64";
    if (s.kind === "reduce")
      found ||= ir.params.some(
        (p) => p.kind === "reduce" && p.name === s.target && p.combine !== undefined && someExpr(p.combine.body, (e) => e.type === "f64"),
      );
  });
  return found;
}

/** The exported function: shares `units` out over the workers, and works off its share in calls of `batch` units. */
function emitRun(code: KernelCode, units: number, batch: number): void {
  // JavaScript hands a 64-bit address over as a number.
  const { wide } = code.spec;
  const run = code.module.function("run", [wide ? "f64" : "i32", "i32", "i32"]);
  const [per, first, end, stop] = [run.local("i32"), run.local("i32"), run.local("i32"), run.local("i32")];
  const least = (a: () => void, b: () => void): void => {
    a();
    b();
    a();
    b();
    run.op("i32.lt_u");
    run.op("select");
  };
  run.i32(units - 1);
  run.get(2);
  run.op("i32.add");
  run.get(2);
  run.op("i32.div_u");
  run.tee(per);
  run.get(1);
  run.op("i32.mul");
  run.tee(first);
  run.get(per);
  run.op("i32.add");
  run.set(end);
  least(
    () => run.get(end),
    () => run.i32(units),
  );
  run.set(end);
  run.get(first);
  run.get(end);
  run.op("i32.lt_u");
  run.if();
  const top = run.loop();
  run.get(first);
  run.i32(batch);
  run.op("i32.add");
  run.set(stop);
  least(
    () => run.get(stop),
    () => run.get(end),
  );
  run.set(stop);
  run.get(0);
  if (wide) run.op("i64.trunc_f64_u");
  run.get(1);
  run.get(first);
  run.get(stop);
  run.call(code.fn.index);
  run.get(stop);
  run.tee(first);
  run.get(end);
  run.op("i32.lt_u");
  run.brIf(top);
  run.end();
  run.end();
  code.module.export("run", run);
}
