import { drawingFile, svgElement, escapeSvg, line, svgText } from "../../draw/svg.js";
import { getOrMake } from "../entry.js";
import { remarkTable } from "./explain.js";
import { kindOf } from "./graph-drawing.js";
import type { PlannedSpan } from "../run/replay.js";
import { overlapOf, type Timeline, type Timelines } from "../run/timeline.js";

/** The timelines of one skeleton as text, as a picture, or as JSON for chrome://tracing. */
export function timelineIn(format: "text" | "svg" | "trace", timelines: Timelines): string {
  return { text: timelineText, svg: timelineSvg, trace: timelineTrace }[format](timelines);
}

/** One stream of one member. */
interface Lane {
  readonly member: number;
  readonly stream: number;
  readonly name: string;
}

const shown = ({ planned, measured }: Timelines): { readonly title: string; readonly timeline: Timeline }[] => [
  { title: "planned", timeline: planned },
  ...(measured ? [{ title: "measured", timeline: measured }] : []),
];

function lanesOf({ set, planned }: Timelines): Lane[] {
  const streams = set.members.map(() => new Set<number>());
  for (const { op } of planned.spans) streams[op.member].add(op.stream);
  return set.members.flatMap(({ index, name }) =>
    [...streams[index]].sort((a, b) => a - b).map((stream) => ({ member: index, stream, name: `${name} stream ${stream}` })),
  );
}

/** Spans of a timeline by lane. */
function byLane(spans: readonly PlannedSpan[]): (lane: Lane) => readonly PlannedSpan[] {
  const keyOf = ({ member, stream }: Pick<Lane, "member" | "stream">): string => `${member} ${stream}`;
  const lanes = new Map<string, PlannedSpan[]>();
  for (const span of spans) getOrMake(lanes, keyOf(span.op), () => []).push(span);
  return (lane) => lanes.get(keyOf(lane)) ?? [];
}

const microseconds = (seconds: number): string => `${(seconds * 1e6).toFixed(1)} µs`;

const CHARACTERS = 96;
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** A row of letters for each stream, one letter a task, and what they stand for. */
function timelineText(timelines: Timelines): string {
  const { name, set, planned } = timelines;
  const lanes = lanesOf(timelines);
  const width = Math.max(...lanes.map((lane) => lane.name.length));
  const nodes = [...new Set(planned.spans.map(({ op }) => op.node))];
  const letters = new Map(nodes.map((node, n) => [node, LETTERS[n % LETTERS.length]]));
  const charts = shown(timelines).map(({ title, timeline }) => {
    const { copies, hidden } = overlapOf(timeline, set.members.length);
    const share = copies > 0 ? `; copies take ${microseconds(copies)} a member, and computation hides ${microseconds(hidden)}` : "";
    const column = (t: number) => Math.floor((t / timeline.seconds) * CHARACTERS);
    const inLane = byLane(timeline.spans);
    const rows = lanes.map((lane) => {
      const row = Array<string>(CHARACTERS).fill(".");
      for (const { op, begin, end } of inLane(lane))
        row.fill(letters.get(op.node)!, column(begin), Math.max(column(end), column(begin) + 1));
      return `  ${lane.name.padEnd(width)}  ${row.slice(0, CHARACTERS).join("")}`;
    });
    return [`${title}: ${microseconds(timeline.seconds)} (${timeline.source})${share}`, ...rows].join("\n");
  });
  const mean = ({ spans }: Timeline, node: (typeof nodes)[number]): string => {
    const own = spans.filter(({ op }) => op.node === node);
    return own.length === 0 ? "" : microseconds(own.reduce((sum, { begin, end }) => sum + end - begin, 0) / own.length);
  };
  const legend = remarkTable([
    ["", "task", ...shown(timelines).map(({ title }) => title)],
    ...nodes.map((node) => [letters.get(node)!, node.name, ...shown(timelines).map(({ timeline }) => mean(timeline, node))]),
  ]);
  return [`skeleton "${name}" on ${set.name}`, ...charts, ["mean of the members", ...legend.map((row) => `  ${row}`)].join("\n")].join(
    "\n\n",
  );
}

const [LEFT, CHART, ROW, GAP, TOP] = [150, 820, 22, 46, 64];
const STYLE = `
text{font:11px system-ui,sans-serif;fill:#1b1b1b}.title{font-size:14px;font-weight:600}.lane{text-anchor:end}.tick{text-anchor:middle;fill:#555}
rect{stroke:#3a3a3a;stroke-width:.5}.map{fill:#b7e1b0}.stencil{fill:#d3c2ee}.reduce{fill:#b5d3f2}.halo,.collect,.move{fill:#f3b8b0}.pack,.sort{fill:#f6dfa4}
.grid{stroke:#ddd}.on{pointer-events:none}`;
/** Pixels of a letter. */
const LETTER = 6;

/** Multiples of 1, 2 or 5 times a power of ten from 0 to `end`, about five of them. */
export function roundTicks(end: number): number[] {
  if (!(end > 0)) return [0];
  const decade = 10 ** Math.floor(Math.log10(end / 5));
  const step = [1, 2, 5, 10].map((n) => n * decade).find((s) => end / s <= 6)!;
  return Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, k) => k * step);
}

/** Planned above measured, on one scale: a row for each stream of each member. The mouse shows times. */
function timelineSvg(timelines: Timelines): string {
  const { name, set } = timelines;
  const lanes = lanesOf(timelines);
  const charts = shown(timelines);
  const longest = Math.max(...charts.map(({ timeline }) => timeline.seconds));
  const x = (t: number) => LEFT + (t / longest) * CHART;
  const height = lanes.length * ROW;
  const ticks = roundTicks(longest * 1e6);
  const panels = charts.map(({ title, timeline }, n) => {
    const top = TOP + n * (height + GAP + 20);
    const inLane = byLane(timeline.spans);
    return [
      svgText(LEFT, top - 8, `${title}: ${microseconds(timeline.seconds)} (${timeline.source})`),
      ...ticks.flatMap((t) => [
        line(x(t / 1e6), top, x(t / 1e6), top + height, "grid"),
        svgText(x(t / 1e6), top + height + 14, `${Number(t.toPrecision(6))} µs`, { class: "tick" }),
      ]),
      ...lanes.flatMap((lane, row) => [
        svgText(LEFT - 8, top + row * ROW + 15, lane.name, { class: "lane" }),
        ...inLane(lane).map((span) => bar(span, x, top + row * ROW)),
      ]),
    ].join("");
  });
  const total = TOP + charts.length * (height + GAP + 20);
  return drawingFile(
    LEFT + CHART + 40,
    total,
    `Timeline of skeleton ${name} on ${set.name}`,
    charts.map(({ title, timeline }) => `${title} ${microseconds(timeline.seconds)}`).join(", "),
    STYLE,
    svgText(LEFT, 26, `${name} on ${set.name}`, { class: "title" }),
    ...panels,
  );
}

function bar({ op, begin, end }: PlannedSpan, x: (t: number) => number, y: number): string {
  const width = Math.max(1, x(end) - x(begin));
  const { name } = op.node;
  return svgElement(
    "g",
    {},
    svgElement("title", {}, escapeSvg(`${name}: ${microseconds(begin)} to ${microseconds(end)}`)),
    svgElement("rect", { x: x(begin), y: y + 2, width, height: ROW - 4, class: kindOf(op.node) }),
    ...(name.length * LETTER < width ? [svgText(x(begin) + 4, y + 15, name, { class: "on" })] : []),
  );
}

/** For chrome://tracing and Perfetto: a process for each member, planned and measured, a thread for each stream. Times are in microseconds. */
function timelineTrace(timelines: Timelines): string {
  const { members } = timelines.set;
  const traceEvents = shown(timelines).flatMap(({ title, timeline }, n) => [
    ...members.map((member) => ({
      name: "process_name",
      ph: "M",
      pid: n * members.length + member.index,
      args: { name: `${title}: ${member.name}` },
    })),
    ...timeline.spans.map(({ op, begin, end }) => ({
      name: op.node.name,
      cat: op.node.kind,
      ph: "X",
      pid: n * members.length + op.member,
      tid: op.stream,
      ts: begin * 1e6,
      dur: (end - begin) * 1e6,
      args: { reason: op.node.reason },
    })),
  ]);
  return JSON.stringify({ traceEvents, displayTimeUnit: "ns" });
}
