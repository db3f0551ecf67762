import { REDUCTION_CHUNK, type ReduceParam, type ScalarParam, type ScalarType, type ScatterParam, type WideType } from "../../ir/types.js";
import { isWide } from "../../ir/scalars.js";
import { teamRows } from "../../ir/analysis/teams.js";
import { tilesOf, type Tiles } from "../../ir/analysis/tiles.js";
import { spanOf } from "../../ir/reach.js";
import { chunksPerLine, partialCount, type RangePolicy } from "../../ir/launch.js";
import { ARRAY } from "./arrays.js";
import { JsBody } from "./body.js";
import { CHECKS } from "./checks.js";
import { HELPERS, helpersIn, numberText } from "./expr.js";
import { HALF_HELPERS } from "./half.js";
import { indent, type Lines } from "./lines.js";
import { identityText, FoldLanes, ownFolds } from "./reduction.js";
import { ATOMIC_HELPERS, atomicArray, cacheOf, cachesText, spillWorkerCache } from "./scatter.js";
import type { JsTarget, Allocation } from "./target.js";
import { cutWide, foldedType } from "./wide.js";

/**
 * JavaScript for one launch: the text of a function of `memory` (an ArrayBufferLike), `buffers` (a list of them) and `noteFault`, that returns
 * `(args, worker, workers) => void`. Arrays are constants that enclose the function, extents and strides are literals, as engines make
 * the fastest code of that. The text is unique to the launch, so that launches do not share type feedback.
 */
export function emitJs(target: JsTarget): string {
  const body = new JsBody(target);
  const loops =
    target.policy.kind === "team"
      ? teams(body, target.policy.league)
      : target.anyRange
        ? linesOfAnyRange(body, target.policy.extents.length)
        : lines(body, target.policy);
  const inner = [...scalars(body), ...loops, ...cached(target).map((param) => spillWorkerCache(body.names.of(param.name)))];
  const kernel = [`return function $kernel_${body.names.of(target.ir.name)}(args, worker, workers) {`, ...indent(inner), "};"];
  const arrays = [
    ...views(body),
    ...caches(body),
    ...tables(body),
    ...partials(body),
    ...ownFolds(body, reductions(body.target)),
    ...body.declarations,
  ];
  const text = [...arrays, ...kernel].join("\n");
  const checks = target.checked ? ["let $element = [];", ...Object.values(CHECKS)] : [];
  return [`"use strict";`, ...checks, ...helpersIn(text, { ...HELPERS, ...HALF_HELPERS, ...ATOMIC_HELPERS }), text, ""].join("\n");
}

const bufferText = (allocation: Allocation): string => (allocation.buffer === undefined ? "memory" : `buffers[${allocation.buffer}]`);

function views({ target, names }: JsBody): Lines {
  return Object.entries(target.views).map(([name, view]) => {
    const array = (type: string, allocation: Allocation): string =>
      `new ${type}(${bufferText(allocation)}, ${allocation.address}, ${spanOf(view)})`;
    const scatter = target.ir.params.find((p): p is ScatterParam => p.kind === "scatter" && p.name === name);
    if (scatter) {
      const { strategy, copies } = target.scatter[name];
      if (strategy === "atomic" || strategy === "cached") return `const ${names.of(name)} = ${array(atomicArray(scatter), view)};`;
      if (copies) {
        const own = [...Array(target.workers - 1).keys()].map((w) =>
          array(ARRAY[scatter.element], { ...copies, address: copies.address + w * copies.stride }),
        );
        return `const $copies_${names.of(name)} = [${[array(ARRAY[scatter.element], view), ...own].join(", ")}];`;
      }
    }
    return `const ${names.of(name)} = ${array(ARRAY[view.element], view)};`;
  });
}

const cached = (target: JsTarget): ScatterParam[] =>
  target.ir.params.filter((p): p is ScatterParam => p.kind === "scatter" && target.scatter[p.name].caches !== undefined);

function caches({ target, names }: JsBody): Lines {
  return cached(target).flatMap((param) => {
    const place = target.scatter[param.name].caches!;
    return cachesText(param, names.of(param.name), bufferText(place), place.address, target.workers);
  });
}

function tables({ target, names }: JsBody): Lines {
  return target.ir.tables.map(
    (table) => `const ${names.of(table.name)} = ${ARRAY[table.type]}.of(${table.values.map(numberText).join(", ")});`,
  );
}

function partials({ target, names }: JsBody): Lines {
  if (target.anyRange) return [];
  const count = partialCount(target.policy);
  return reductions(target).map(
    ({ name, type }) =>
      `const $partials_${names.of(name)} = new ${ARRAY[foldedType(type)]}(${bufferText(target.partials[name])}, ${target.partials[name].address}, ${count});`,
  );
}

const reductions = (target: JsTarget): ReduceParam[] => target.ir.params.filter((p): p is ReduceParam => p.kind === "reduce");

/** Ends of expressions that bring a scalar's f64 into its type. */
const AS_TYPE: Readonly<Record<Exclude<ScalarType, WideType>, string>> = { f64: "", f32: "", i32: " | 0", u32: " >>> 0", bool: " !== 0" };

const slotText = (type: ScalarType, n: number): string =>
  isWide(type) ? (type === "i64" ? `$wide[${n}]` : cutWide(type, `$wide[${n}]`)) : `$scalars[${n}]${AS_TYPE[type]}`;

/** Variables that the function sets up at each run: scalars and the worker's own copies of scatter targets. */
function scalars({ target, names }: JsBody): Lines {
  const params = target.ir.params.filter((p): p is ScalarParam => p.kind === "scalar");
  const { scalars: place } = target;
  const slots = rangeSlots(target).end;
  const copies = Object.entries(target.scatter).filter(([, s]) => s.copies);
  return [
    ...(slots ? [`const $scalars = new Float64Array(${bufferText(place)}, ${place.address}, ${slots});`] : []),
    ...(params.some(({ type }) => isWide(type))
      ? [`const $wide = new BigInt64Array(${bufferText(place)}, ${place.address}, ${slots});`]
      : []),
    ...params.map((p, n) => `const ${names.of(p.name)} = ${slotText(p.type, n)};`),
    ...copies.map(([name]) => `const ${names.of(name)} = $copies_${names.of(name)}[worker];`),
    ...cached(target).map(({ name }) => cacheOf(names.of(name), "worker")),
  ];
}

/** Arguments of code for any range, by the numbers of their slots after the scalars; `end` is the number of all slots. */
export function rangeSlots({ ir, policy, anyRange }: Pick<JsTarget, "ir" | "policy" | "anyRange">) {
  const scalars = ir.params.filter(({ kind }) => kind === "scalar").length;
  if (!anyRange || policy.kind === "team") return { begin: scalars, extent: scalars, partials: scalars, end: scalars };
  const rank = policy.extents.length;
  const partials = scalars + 2 * rank;
  return { begin: scalars, extent: scalars + rank, partials, end: partials + 2 * ir.params.filter(({ kind }) => kind === "reduce").length };
}

/** Teams, shared out in blocks; a team runs on one worker. */
function teams(body: JsBody, league: number): Lines {
  const results = reductions(body.target);
  const total = (r: { name: string }): string => `$total_${body.names.of(r.name)}`;
  return [
    ...share(league),
    ...(teamRows(body.target.ir).length > 0 ? ["const $i1 = worker;"] : []),
    "for (let $i0 = $lo; $i0 < $hi; $i0++) {",
    ...indent(
      body.withRows(() => [
        ...(body.target.checked ? ["$element = [$i0];"] : []),
        ...results.map((r) => `let ${total(r)} = ${identityText(r)};`),
        ...body.withAccumulators(results, total, () => body.elementBody()),
        ...results.map((r) => `$partials_${body.names.of(r.name)}[$i0] = ${total(r)};`),
      ]),
    ),
    "}",
  ];
}

/**
 * A range: lines along the last axis, shared out in blocks; where there are few lines, each is cut into pieces at multiples of a
 * reduction's chunk. Reductions go by the strict tree in fast mode too: other orders are no faster here.
 */
function lines(body: JsBody, policy: RangePolicy): Lines {
  const tiles = tilesOf(
    body.target.ir,
    policy,
    Object.values(body.target.scatter).map(({ strategy }) => strategy),
  );
  if (tiles) return loopsOfTiles(body, policy, tiles);
  const outer = policy.extents.slice(0, -1);
  const count = outer.reduce((a, b) => a * b, 1);
  const chunks = chunksPerLine(policy.extents.at(-1)!);
  // Owners of scatter targets, one a worker along the first axis, keep their lines whole and in order.
  const ordered = Object.values(body.target.scatter).some(({ strategy }) => strategy === "sorted");
  const isWhole = ordered || body.target.workers === 1 || count >= 4 * body.target.workers;
  return [
    // A run in slices has more workers than threads.
    ...(isWhole ? [] : [`const $pieces = ${piecesText(count, chunks)};`]),
    ...share(isWhole ? count : `(${count} * $pieces)`),
    "for (let $task = $lo; $task < $hi; $task++) {",
    ...indent([
      ...(outer.length === 0 ? [] : [`const $line = ${isWhole ? "$task" : "Math.floor($task / $pieces)"};`]),
      ...outerIndices(outer, policy.begin),
      ...(isWhole
        ? []
        : [
            `const $piece = ${count === 1 ? "$task" : "$task % $pieces"};`,
            `const $c0 = Math.floor(${chunks} * $piece / $pieces), $c1 = Math.floor(${chunks} * ($piece + 1) / $pieces);`,
          ]),
      ...body.withRows(() => (reductions(body.target).length ? chunksOfLine(body, policy, isWhole) : pieceOfLine(body, policy, isWhole))),
    ]),
    "}",
  ];
}

/** `lines` for a range of `rank` axes that is known at each run. */
function linesOfAnyRange(body: JsBody, rank: number): Lines {
  const { target, names } = body;
  const slots = rangeSlots(target);
  const results = reductions(target);
  const inner = rank - 1;
  const axes = [...Array(rank).keys()];
  const product = (of: readonly number[]): string => of.map((axis) => `$n${axis}`).join(" * ") || "1";
  return [
    ...axes.map((axis) => `const $b${axis} = $scalars[${slots.begin + axis}] | 0, $n${axis} = $scalars[${slots.extent + axis}];`),
    ...results.map(({ name, type }, n) => {
      const at = slots.partials + 2 * n;
      return `const $partials_${names.of(name)} = new ${ARRAY[foldedType(type)]}(${bufferText(target.partials[name])}, $scalars[${at}], $scalars[${at + 1}]);`;
    }),
    `const $lines = ${product(axes.slice(0, inner))}, $chunks = Math.ceil($n${inner} / ${REDUCTION_CHUNK});`,
    "const $some = Math.max(1, Math.min($chunks, $lines === 1 ? workers : Math.ceil((4 * workers) / $lines)));",
    "const $pieces = workers === 1 || $lines >= 4 * workers ? 1 : $some, $tasks = $lines * $pieces;",
    ...share("$tasks"),
    "for (let $task = $lo; $task < $hi; $task++) {",
    ...indent([
      "const $line = Math.floor($task / $pieces), $piece = $task % $pieces;",
      ...axes.slice(0, inner).map((axis) => {
        const below = product(axes.slice(axis + 1, inner));
        return `const $i${axis} = Math.floor($line / (${below})) % $n${axis} + $b${axis} | 0;`;
      }),
      "const $c0 = Math.floor($chunks * $piece / $pieces), $c1 = Math.floor($chunks * ($piece + 1) / $pieces);",
      ...body.withRows(() => (results.length > 0 ? chunksOfAnyRange(body, inner) : pieceOfAnyRange(body, inner))),
    ]),
    "}",
  ];
}

const boundsOfAnyRange = (inner: number, first: string, end: string): Lines => [
  `const $first = ${first} * ${REDUCTION_CHUNK} + $b${inner} | 0;`,
  `const $end = Math.min(${end} * ${REDUCTION_CHUNK}, $n${inner}) + $b${inner} | 0;`,
];

const pieceOfAnyRange = (body: JsBody, inner: number): Lines => [
  ...boundsOfAnyRange(inner, "$c0", "$c1"),
  ...body.innerLoop(`$i${inner}`, "$first", "$end"),
];

function chunksOfAnyRange(body: JsBody, inner: number): Lines {
  const results = reductions(body.target);
  const lanes = new FoldLanes(body, results, body.target.ir.body, () => body.elementBody());
  return [
    "for (let $c = $c0; $c < $c1; $c++) {",
    ...indent([
      ...boundsOfAnyRange(inner, "$c", "($c + 1)"),
      ...lanes.start,
      ...lanes.loop(`$i${inner}`, "$first", "$end"),
      ...lanes.end,
      ...results.map((r) => `$partials_${body.names.of(r.name)}[$line * $chunks + $c] = ${lanes.result(r)};`),
    ]),
    "}",
  ];
}

/** Tiles, shared out in blocks, with a nest of loops in each. */
function loopsOfTiles(body: JsBody, { begin, extents }: RangePolicy, { tile, counts, total }: Tiles): Lines {
  const axes = extents.map((extent, axis) => {
    const below = counts.slice(axis + 1).reduce((a, b) => a * b, 1);
    const quotient = below === 1 ? "$task" : `Math.floor($task / ${below})`;
    const place = axis === 0 ? quotient : `${quotient} % ${counts[axis]}`;
    return [
      `const $begin${axis} = ${plus(`${place} * ${tile[axis]}`, begin[axis])} | 0;`,
      `const $end${axis} = Math.min($begin${axis} + ${tile[axis]}, ${begin[axis] + extent});`,
    ];
  });
  const last = extents.length - 1;
  const nest = (axis: number): Lines =>
    axis === last
      ? body.withRows(() => body.innerLoop(`$i${last}`, `$begin${last}`, `$end${last}`))
      : [`for (let $i${axis} = $begin${axis}; $i${axis} < $end${axis}; $i${axis}++) {`, ...indent(nest(axis + 1)), "}"];
  return [...share(total), "for (let $task = $lo; $task < $hi; $task++) {", ...indent([...axes.flat(), ...nest(0)]), "}"];
}

/** As many pieces of each line as keep all workers busy, at multiples of a reduction's chunk. */
const piecesText = (lines: number, chunks: number): string =>
  `Math.max(1, Math.min(${chunks}, ${lines === 1 ? "workers" : `Math.ceil(4 * workers / ${lines})`}))`;

/** The indices of `$line` along all axes but the last. */
function outerIndices(extents: readonly number[], begin: readonly number[]): Lines {
  return extents.map((extent, axis) => {
    const below = extents.slice(axis + 1).reduce((a, b) => a * b, 1);
    const quotient = below === 1 ? "$line" : `Math.floor($line / ${below})`;
    const digit = axis === 0 ? quotient : `${quotient} % ${extent}`;
    return `const $i${axis} = ${plus(digit, begin[axis])} | 0;`;
  });
}

/** One loop over the piece of the line. */
function pieceOfLine(body: JsBody, { extents, begin }: RangePolicy, isWhole: boolean): Lines {
  const inner = extents.length - 1;
  const loop = (first: string, end: string): Lines => body.innerLoop(`$i${inner}`, first, end);
  if (isWhole) return loop(String(begin[inner]), String(begin[inner] + extents[inner]));
  return [
    `const $first = ${plus(`$c0 * ${REDUCTION_CHUNK}`, begin[inner])} | 0;`,
    `const $end = ${plus(`Math.min($c1 * ${REDUCTION_CHUNK}, ${extents[inner]})`, begin[inner])} | 0;`,
    ...loop("$first", "$end"),
  ];
}

/** One loop over each chunk of the piece, which leaves a partial for each reduction. */
function chunksOfLine(body: JsBody, { extents, begin }: RangePolicy, isWhole: boolean): Lines {
  const inner = extents.length - 1;
  const chunks = chunksPerLine(extents[inner]);
  const results = reductions(body.target);
  const lanes = new FoldLanes(body, results, body.target.ir.body, () => body.elementBody());
  const partial = extents.length === 1 ? "$c" : `$line * ${chunks} + $c`;
  return [
    `for (let $c = ${isWhole ? "0" : "$c0"}; $c < ${isWhole ? chunks : "$c1"}; $c++) {`,
    ...indent([
      `const $first = ${plus(`$c * ${REDUCTION_CHUNK}`, begin[inner])} | 0;`,
      `const $end = ${plus(`Math.min(($c + 1) * ${REDUCTION_CHUNK}, ${extents[inner]})`, begin[inner])} | 0;`,
      ...lanes.start,
      ...lanes.loop(`$i${inner}`, "$first", "$end"),
      ...lanes.end,
      ...results.map((r) => `$partials_${body.names.of(r.name)}[${partial}] = ${lanes.result(r)};`),
    ]),
    "}",
  ];
}

const plus = (text: string, offset: number): string => (offset === 0 ? text : offset > 0 ? `${text} + ${offset}` : `${text} - ${-offset}`);

/** This worker's block of the tasks. */
const share = (tasks: number | string): Lines => [
  `const $lo = Math.floor(${tasks} * worker / workers), $hi = Math.floor(${tasks} * (worker + 1) / workers);`,
];
