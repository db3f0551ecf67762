import { memoised, named } from "#memoise";
import { ROW } from "../../schedule/shape.js";
import { BLOCK } from "../../schedule/entry.js";
import { BYTES_OF_WORD } from "../../schedule/words.js";
import { MEMBER_LIMIT, MEMBERS, DEFAULT_LANES } from "../../schedule/team-size.js";
import {
  SHAPE_TUNING,
  type GpuAssumptions,
  type GpuLanguage,
  type GpuProgram,
  type ShapeTuning,
  type Traversal,
} from "../../schedule/program.js";
import { derive } from "../../cache/derive.js";
import type { Access, AccessAnalysis } from "../../ir/analysis/access.js";
import { rangeOf, type Interval } from "../../ir/analysis/affine.js";
import { viewsWithNeighbours } from "../../ir/analysis/neighbours.js";
import type { Tunables } from "../../ir/tuning.js";
import { laneLoops, onlyFolds } from "../../ir/analysis/teams.js";
import { REDUCTION_LANES, type KernelIR } from "../../ir/types.js";
import type { Binding } from "../launch/binding.js";
import type { Policy, RangePolicy } from "../launch/policy.js";
import { LaunchTuning, scatterTunables } from "../tuning/tuning.js";
import { BYTES, type View } from "../memory/view.js";
import { addressingOf, type Addressing } from "./addressing.js";
import type { CodeFacts } from "./machine.js";
import { chooseScatter } from "./strategy.js";
import type { ScatterCacheShape } from "./scatter-cache.js";

/** The code for a launch and what was decided on the way. */
export interface LaunchProgram {
  program: GpuProgram;
  /** One thread runs it all. */
  serial: boolean;
  /** Members of a team, and teams of a block. */
  members: number;
  abreast: number;
  /** Contributions of one element or team to each sorted scatter target, at most. */
  slots: Readonly<Record<string, number>>;
  caches?: ScatterCacheShape;
  remarks: string[];
  tuning: LaunchTuning;
}

/** Emits the program for a binding's kernel, layouts and sizes, or finds it emitted; needs no GPU. Throws LaunchError. */
export function programOf(binding: Binding, language: GpuLanguage, facts: CodeFacts): LaunchProgram {
  const { ir } = binding;
  const scatter = chooseScatter(binding, facts);
  const { caches } = scatter;
  const addressing = addressingOf(binding);
  const untuned: GpuAssumptions = {
    ...assume(binding, addressing, scatter.code, facts, language),
    ...(caches && { scatterCacheLines: caches.lines }),
  };
  const emitted = (assumptions: GpuAssumptions): GpuProgram =>
    derive(ir, emitProgram, { access: binding.access, language, assumptions }, `${language.name} ${JSON.stringify(assumptions)}`);
  const tuning = new LaunchTuning(binding, () => tunablesOf(binding, emitted(untuned), facts));
  const wished = blockOfTile(binding.policy, () => emitted(untuned).traversal);
  const tuned = SHAPE_TUNING.filter((name) => tuning.values[name] !== undefined).map((name) => [name, tuning.values[name]]);
  const shape: ShapeTuning = { ...Object.fromEntries(tuned), ...wished };
  const assumptions = Object.keys(shape).length > 0 ? { ...untuned, tuning: shape } : untuned;
  const program = emitted(assumptions);
  return {
    program,
    members: assumptions.members / (program.lanes * (assumptions.abreast ?? 1)),
    abreast: assumptions.abreast ?? 1,
    slots: scatter.slots,
    caches,
    serial: Object.values(scatter.code).includes("serial"),
    remarks: [
      ...scatter.remarks,
      ...(caches ? [caches.remark] : []),
      addressing.remark,
      ...tileRemark(binding.policy, wished),
      ...lanesRemark(binding, assumptions, language),
      ...tuning.remarks,
    ],
    tuning,
  };
}

interface Emitted {
  readonly access: AccessAnalysis;
  readonly language: GpuLanguage;
  readonly assumptions: GpuAssumptions;
}

/** Emitted, or found emitted by another process. */
function emitProgram(ir: KernelIR, { access, language, assumptions }: Emitted): GpuProgram {
  const emit = (): GpuProgram => language.emit(ir, access, assumptions);
  const program = memoised("program", [named(ir), language.name, assumptions], () => {
    const { tunables: _, ...data } = emit();
    return data;
  });
  return { ...program, tunables: () => emit().tunables() };
}

/** The shape of blocks that comes nearest to a tile that was asked for; undefined if blocks do not have a part of each axis. */
function blockOfTile(policy: Policy, traversal: () => Traversal): ShapeTuning | undefined {
  if (policy.kind !== "range" || !policy.tile || !["elements", "strided"].includes(traversal())) return undefined;
  const [columns, rows, planes] = [...policy.tile].reverse();
  const row = Math.min(BLOCK, nextPower(Math.min(columns, policy.extents.at(-1)!)));
  const threads = Math.min(BLOCK, Math.max(WARP, row * nextPower(rows)));
  return { row, threads, ...(policy.tile.length === 3 ? { planes } : {}) };
}

function tileRemark(policy: Policy, shape: ShapeTuning | undefined): string[] {
  if (policy.kind !== "range" || !policy.tile) return [];
  if (!shape) return ["tiles: none, as the order of reductions or scatters decides how the range is divided"];
  const { row, threads, planes } = shape;
  return [
    `tiles: blocks of ${planes === undefined ? "" : `${planes} x `}${threads! / row!} x ${row}, for the ${policy.tile.join(" x ")} asked for`,
  ];
}

/** Ways in which a launch can be tuned: shapes that its extents fill and the device can run. */
function tunablesOf(binding: Binding, program: GpuProgram, { threads }: CodeFacts): Tunables {
  const { policy } = binding;
  const longest = policy.kind === "range" ? nextPower(policy.extents.at(-1)!) : 1;
  // Tiles that were asked for are shapes that were chosen.
  const shapes = policy.kind === "range" && policy.tile ? {} : program.tunables();
  return {
    ...scatterTunables(binding),
    ...shapes,
    ...(shapes.threads && { threads: shapes.threads.filter((count) => count <= threads) }),
    ...(shapes.row && { row: shapes.row.filter((count) => count <= longest) }),
  };
}

const nextPower = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, count)));

/** Elements from which on it does not matter that the next kernel is started late: 2 of 40 us on an H200, and more where elements do more. */
const LARGE = 2 ** 23;
const isLarge = (policy: Policy): boolean => policy.kind === "range" && policy.extents.reduce((a, b) => a * b, 1) > LARGE;

/**
 * Bytes that a launch touches, in caches, up to which it sweeps backward where it may. Of a step of conjugate gradients: 3 % at one cache (H200),
 * 0.5 % at four, 2 % lost at 43 (H100).
 */
const SWEPT_CACHES = 8;

const WARP = 32;
/** Bytes of a cache line. */
const LINE = 128;

/** Rows of a view: how many elements they have, and how many elements of its cache line come before index 0. */
interface Rows {
  readonly length: number;
  readonly first: number;
  readonly line: number;
}

const rowsOf = new WeakMap<object, readonly Rows[]>();

/** Rows of the views whose elements lie one after the other, found once for each record of views. */
function rowsOfViews(views: Readonly<Record<string, View>>): readonly Rows[] {
  const known = rowsOf.get(views);
  if (known) return known;
  const rows = Object.values(views)
    .filter(({ strides }) => strides.at(-1) === 1)
    .map(({ buffer, type, offset, shape }) => {
      const line = LINE / BYTES[type];
      return { length: shape.at(-1)!, first: (Number(buffer.address) / BYTES[type] + offset) % line, line };
    });
  rowsOf.set(views, rows);
  return rows;
}

/**
 * First index of threads along the last axis, so that a warp's accesses touch as few cache lines as possible: the range's begin, or as far before
 * it as that element is from the start of a line in most of the views that have rows like the range's.
 */
export function alignedBegin(policy: RangePolicy, views: Readonly<Record<string, View>>): number {
  const first = policy.begin.at(-1)!;
  const extent = policy.extents.at(-1)!;
  if (extent < 2 * WARP) return first;
  const all = rowsOfViews(views).filter(({ length }) => length >= extent);
  const behindOf = (rows: Rows): number => (rows.first + first) % rows.line;
  let [behind, most] = [0, 0];
  for (const one of all) {
    const vote = behindOf(one);
    let votes = 0;
    for (const other of all) if (behindOf(other) === vote) votes++;
    if (votes > most) [behind, most] = [vote, votes];
  }
  return Number.isInteger(behind) ? first - behind : first;
}

/** The longest row of threads that leaves at most an eighth unused; undefined for an axis that is shorter than any. */
function rowOf(extent: number): number | undefined {
  if (extent <= ROW / 2) return undefined;
  return [4 * ROW, 2 * ROW].find((row) => Math.ceil(extent / row) * row <= 1.125 * extent) ?? ROW;
}

/** Threads of a team: a whole number of warps near the wish. */
function teamThreads(wish: number = MEMBERS, serial: boolean, { threads }: CodeFacts): number {
  return serial ? 1 : Math.min(MEMBER_LIMIT, threads, Math.max(WARP, Math.ceil(wish / WARP) * WARP));
}

/** Lanes of a member: as were asked for, or as many as its longest loop over lanes has turns, where that is known. */
function lanesFor({ ir, policy, ordered }: Binding, scatter: GpuAssumptions["scatter"], language: GpuLanguage): number {
  const loops = laneLoops(ir.body);
  if (policy.kind !== "team" || loops.length === 0 || inTurn(scatter)) return 1;
  const counts = loops.map(({ count }) => (count.op === "const" ? Number(count.value) : undefined));
  const wanted = counts.every((count) => count !== undefined) ? nextPower(Math.max(...counts)) : DEFAULT_LANES;
  return Math.min(policy.lanes ?? wanted, language.lanes, ordered ? REDUCTION_LANES : Infinity);
}

/** Teams that share a warp: as were asked for, where they fill it and fold by shuffles alone. */
function teamsAbreast({ ir, policy, ordered }: Binding, scatter: GpuAssumptions["scatter"], { lanes }: GpuLanguage): number {
  if (policy.kind !== "team" || policy.abreast === undefined || policy.size === undefined) return 1;
  const { abreast, size, league } = policy;
  const fills = size * abreast === WARP && league % abreast === 0;
  return fills && lanes > 1 && !ordered && !ir.checks && !inTurn(scatter) && onlyFolds(ir) ? abreast : 1;
}

/** Scatters come in an order that lanes would mix up. */
const inTurn = (scatter: GpuAssumptions["scatter"]): boolean =>
  Object.values(scatter).some((code) => code === "sorted" || code === "serial");

function lanesRemark({ ir, policy, ordered }: Binding, { lanes, scatter }: GpuAssumptions, language: GpuLanguage): string[] {
  if (policy.kind !== "team" || laneLoops(ir.body).length === 0) return [];
  const why =
    language.lanes === 1
      ? ", as threads cannot read each other's registers"
      : inTurn(scatter)
        ? ", as scatters come in order"
        : policy.lanes === undefined || policy.lanes === lanes
          ? ""
          : `, for the ${policy.lanes} asked for: ${ordered ? "as many as strict sums have parts" : "as many as a warp has threads"}`;
  return [`lanes: ${lanes} of a member${why}`];
}

/** Whether to sweep backward: if the cache holds too little of the memory that a launch touches, that costs more than it finds there. */
const sweepsBackward = ({ call, views }: Binding, { l2Bytes }: CodeFacts): boolean =>
  call.options.sweepBackward === true &&
  Object.values(views).reduce((bytes, { size, type }) => bytes + size * BYTES[type], 0) <= SWEPT_CACHES * l2Bytes;

/** Views of bytes that a range of one axis may read by words. */
function bytesAtWords({ ir, access, policy, views }: Binding): Pick<GpuAssumptions, "bytesAtWords"> {
  if (policy.kind !== "range" || policy.begin.length !== 1) return {};
  const names = ir.params.flatMap((param) => {
    if (param.kind !== "view" || param.element !== "u8" || param.rank !== 1 || access.views[param.name].written) return [];
    if (!access.accesses.some(({ view, indices }) => view === param.name && indices[0].op === "index")) return [];
    const { buffer, offset, strides } = views[param.name];
    return strides[0] === 1 && (Number(buffer.address) + offset + policy.begin[0]) % BYTES_OF_WORD === 0 ? [param.name] : [];
  });
  return names.length > 0 ? { bytesAtWords: names } : {};
}

/** Assumptions of code about a launch's range. */
const assumeOfRange = (binding: Binding): Pick<GpuAssumptions, "large" | "aligned" | "row" | "bytesAtWords" | "pairs"> => {
  const { policy, views } = binding;
  return {
    ...bytesAtWords(binding),
    ...(inPairs(binding) ? { pairs: true } : {}),
    ...(isLarge(policy) ? { large: true } : {}),
    aligned: policy.kind === "range" && policy.begin.at(-1)! !== alignedBegin(policy, views),
    // Short rows are many and of little work: one program will do for them all.
    row: policy.kind === "range" && policy.extents.length > 1 ? rowOf(policy.extents.at(-1)!) : undefined,
  };
};

/** Whether two launches over the same views, in ranges without wishes for tiles, which differ in numbers alone, have the same code. */
export function haveSameCode(a: Binding, b: Binding): boolean {
  if (a.ir !== b.ir || a.policy.kind !== "range" || b.policy.kind !== "range" || a.policy.tile || b.policy.tile || a.sizes() !== b.sizes())
    return false;
  const [of, other] = [assumeOfRange(a), assumeOfRange(b)];
  const same = of.large === other.large && of.aligned === other.aligned && of.row === other.row && of.pairs === other.pairs;
  return same && of.bytesAtWords?.join() === other.bytesAtWords?.join();
}

/** Bytes that a thread loads at once, at most. */
const VECTOR = 16;

/** Elements that a load may take at once: as many as begin at a multiple of themselves, and all rows do. */
function vectorOf({ type, buffer, offset, strides }: View): number {
  const first = Number(buffer.address) / BYTES[type] + offset;
  const others = strides.filter((stride, axis) => axis < strides.length - 1 || stride !== 1);
  let count = VECTOR / BYTES[type];
  while (count > 1 && ![first, ...others].every((elements) => elements % count === 0)) count /= 2;
  return count;
}

/** Views whose loads may take several elements, as neighbours are read or written together, by one element or by two that a thread has. */
function vectorsOf(binding: Binding): Pick<GpuAssumptions, "vectors"> {
  const { access, views } = binding;
  const names = inPairs(binding) ? Object.keys(views) : [...viewsWithNeighbours(access)];
  const found = names.map((name) => [name, vectorOf(views[name])] as const).filter(([, count]) => count > 1);
  return found.length > 0 ? { vectors: Object.fromEntries(found) } : {};
}

/** Whether threads may have two neighbours of a row of a large box: it begins at an even place of all views, and neighbours of the range can be read. */
function inPairs({ access, policy, views, peerStores }: Binding): boolean {
  if (policy.kind !== "range" || policy.extents.length !== 3 || peerStores.length > 0 || !isLarge(policy)) return false;
  const inRows = Object.values(views).every((view) => BYTES[view.type] === 4 && view.strides.at(-1) === 1 && vectorOf(view) > 1);
  if (!inRows || alignedBegin(policy, views) % 2 !== 0) return false;
  const values = policy.begin.map((begin, axis): Interval => [begin, begin + policy.extents[axis] - 1]);
  // Tables and private arrays are as long as elements of the range need.
  if (access.arrays.some(({ indices }) => indices.some(({ op }) => op !== "const"))) return false;
  const last = values[2];
  const wider = [values[0], values[1], [last[0] - 1, last[1] + 1] as const];
  return access.accesses.every((one) => one.kind !== "read" || isInMemory(one, views[one.view], wider));
}

/** Whether an access stays in the memory between a view's first and last element for all indices of a range. */
function isInMemory({ affine }: Access, { shape, strides }: View, values: readonly Interval[]): boolean {
  let [low, high, end] = [0, 0, 0];
  for (const [axis, form] of affine.entries()) {
    const range = form && rangeOf(form, (atom) => (atom.startsWith("index:") ? values[Number(atom.slice("index:".length))] : undefined));
    if (!range || strides[axis] < 0) return false;
    low += strides[axis] * range[0];
    high += strides[axis] * range[1];
    end += strides[axis] * (shape[axis] - 1);
  }
  return low >= 0 && high <= end;
}

function assume(
  binding: Binding,
  { wide, far }: Addressing,
  scatter: GpuAssumptions["scatter"],
  facts: CodeFacts,
  language: GpuLanguage,
): GpuAssumptions {
  const { policy, views, precision, ordered, disjointMemory, peerStores } = binding;
  const lanes = lanesFor(binding, scatter, language);
  const abreast = teamsAbreast(binding, scatter, language);
  return {
    strict: precision === "strict",
    ordered,
    sizes: binding.sizes(),
    ...assumeOfRange(binding),
    wide,
    ...(far ? { far } : {}),
    restrict: disjointMemory,
    members:
      policy.kind === "team" ? teamThreads(policy.size && policy.size * lanes, Object.values(scatter).includes("serial"), facts) : MEMBERS,
    lanes,
    ...(abreast > 1 ? { abreast } : {}),
    ...vectorsOf(binding),
    unitStrides: Object.fromEntries(Object.entries(views).map(([name, view]) => [name, view.strides.map((stride) => stride === 1)])),
    scatter,
    ...(sweepsBackward(binding, facts) ? { sweepBackward: true } : {}),
    ...(peerStores.length > 0 ? { peerStores: peerStores.map(({ param, side }) => ({ param, side })) } : {}),
  };
}
