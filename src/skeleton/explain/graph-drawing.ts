import { drawingFile, svgElement, escapeSvg, svgText } from "../../draw/svg.js";
import { reasonsText, type Explained } from "./explain.js";
import type { DependencyGraph, Hint } from "../plan/graph.js";
import type { Node } from "../plan/nodes.js";
import { dependencyLevels } from "../plan/schedule.js";

/** Shape that a node is drawn as. */
export type NodeKind = "map" | "stencil" | "reduce" | "scalars" | "halo" | "collect" | "pack" | "move" | "sort";

/** A container that does several of them is shown by what costs most to distribute. */
export function kindOf(node: Node): NodeKind {
  if (node.kind !== "compute") return node.kind;
  if (node.container.assigned) return "scalars";
  return node.container.stencil ? "stencil" : node.container.reduces ? "reduce" : "map";
}

/** `HEIGHT` belongs to a box with one line of a name, each further one takes `LINE`. */
const [WIDTH, HEIGHT, LINE, GAP_X, GAP_Y, MARGIN, HEADER] = [168, 40, 15, 28, 44, 24, 56];
/** As many as fit into a line of a box. */
const LETTERS = 25;

const STYLE = `
text{font:12px system-ui,sans-serif;fill:#1b1b1b;text-anchor:middle}
.title{font-size:14px;font-weight:600}.small{font-size:10px;fill:#555}
rect{stroke:#3a3a3a;stroke-width:1;rx:6}
.map{fill:#b7e1b0}.stencil{fill:#d3c2ee}.reduce{fill:#b5d3f2}.scalars{fill:#eceadf}.halo,.collect,.move{fill:#f3b8b0}.pack,.sort{fill:#f6dfa4}
path{fill:none;stroke:#777;stroke-width:1.4}.event{stroke:#222;stroke-width:2.4}.hint{stroke:#e08a1e;stroke-dasharray:5 4}
.tip{stroke:none;fill:#777}.hint.tip{fill:#e08a1e}.event.tip{fill:#222}`;

interface Place {
  readonly x: number;
  readonly y: number;
  readonly height: number;
}

/** One graph as a picture: its lines and its size. */
interface Picture {
  readonly shapes: readonly string[];
  readonly width: number;
  readonly height: number;
}

/** The graph as written beside the graph on the devices: rows are levels, columns streams. Events are bold, hints dashed; the mouse shows reasons. */
export function explainSvg({ name, set, steady }: Explained): string {
  const { graph, hints, schedule, stages } = steady;
  const written = dependencyLevels(stages.written.nodes, (node) => stages.written.parents(node));
  const streams = new Map(schedule.tasks.map((task) => [task.node, task.stream]));
  const before = picture(
    stages.written,
    [],
    written,
    (node) => written.find((level) => level.includes(node))!.indexOf(node),
    undefined,
    MARGIN,
  );
  const after = picture(graph, hints, schedule.levels, (node) => streams.get(node)!, streams, before.width + 3 * MARGIN);
  const width = before.width + after.width + 4 * MARGIN;
  const height = Math.max(before.height, after.height) + HEADER + MARGIN;
  const title = `Skeleton ${name} on ${set}`;
  const description = `The dependencies of ${stages.written.nodes.length} containers, and the ${graph.nodes.length} tasks of OCC ${steady.level} in ${schedule.streams} streams.`;
  return drawingFile(
    width,
    height,
    title,
    description,
    STYLE,
    svgText(MARGIN + before.width / 2, 30, "as written", { class: "title" }),
    svgText(before.width + 3 * MARGIN + after.width / 2, 30, `on ${set}, OCC ${steady.level}`, { class: "title" }),
    ...before.shapes,
    ...after.shapes,
  );
}

function picture<N extends Node>(
  graph: DependencyGraph<N>,
  hints: readonly Hint<N>[],
  levels: readonly (readonly N[])[],
  columnOf: (node: N) => number,
  streams: ReadonlyMap<Node, number> | undefined,
  left: number,
): Picture {
  const positions = new Map<N, Place>();
  let y = HEADER;
  for (const level of levels) {
    const height = HEIGHT + LINE * (Math.max(1, ...level.map((node) => linesOf(nameOf(node)).length)) - 1);
    for (const node of level) positions.set(node, { x: left + columnOf(node) * (WIDTH + GAP_X), y, height });
    y += height + GAP_Y;
  }
  const columns = Math.max(0, ...graph.nodes.map(columnOf)) + 1;
  const event = (from: N, to: N) => streams !== undefined && streams.get(from) !== streams.get(to);
  const edges = graph.edges.map(({ from, to, reasons }) =>
    arrow(
      positions.get(from)!,
      positions.get(to)!,
      event(from, to) ? "event" : "data",
      `${from.name} -> ${to.name}: ${reasonsText(reasons)}`,
    ),
  );
  const dashed = hints.map(({ from, to, reason }) =>
    arrow(positions.get(from)!, positions.get(to)!, "hint", `${from.name}, then ${to.name}: ${reason}`),
  );
  const boxes = graph.nodes.map((node) => box(positions.get(node)!, node, streams?.get(node)));
  return {
    shapes: [...edges, ...dashed, ...boxes],
    width: columns * (WIDTH + GAP_X) - GAP_X,
    height: y - HEADER - GAP_Y,
  };
}

const nameOf = (node: Node): string => (node.kind === "compute" ? node.name.replace(`.${node.view}`, "") : node.name);

/** A name in lines that fit into a box, broken at spaces, and words that are longer anywhere. */
export function linesOf(name: string): string[] {
  const lines = [""];
  for (const word of name.split(" ").flatMap((each) => each.match(new RegExp(`.{1,${LETTERS}}`, "gu")) ?? [])) {
    const last = lines[lines.length - 1];
    const longer = last ? `${last} ${word}` : word;
    if (longer.length <= LETTERS) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function box({ x, y, height }: Place, node: Node, stream: number | undefined): string {
  const lines = linesOf(nameOf(node));
  const part = node.kind === "compute" && node.view !== "standard" ? `${node.view} cells, ` : "";
  const below = stream === undefined ? [] : [`${part}stream ${stream}`];
  const first = y + (height - LINE * (lines.length + below.length)) / 2 + 12;
  return svgElement(
    "g",
    {},
    svgElement("title", {}, escapeSvg(`${node.name}: ${node.reason}`)),
    svgElement("rect", { x, y, width: WIDTH, height, class: kindOf(node) }),
    ...lines.map((each, n) => svgText(x + WIDTH / 2, first + n * LINE, each)),
    ...below.map((each) => svgText(x + WIDTH / 2, first + lines.length * LINE, each, { class: "small" })),
  );
}

/** From the lower edge of one box to the upper edge of another, or from side to side in one row and upwards. */
function arrow(from: Place, to: Place, kind: string, words: string): string {
  const down = to.y > from.y;
  const side = to.x >= from.x ? 1 : -1;
  const start = down
    ? { x: from.x + WIDTH / 2, y: from.y + from.height }
    : { x: from.x + WIDTH / 2 + (side * WIDTH) / 2, y: from.y + from.height / 2 };
  const end = down ? { x: to.x + WIDTH / 2, y: to.y } : { x: to.x + WIDTH / 2 - (side * WIDTH) / 2, y: to.y + to.height / 2 };
  const bend = down ? { x: 0, y: Math.max(GAP_Y / 2, (end.y - start.y) / 2) } : { x: side * GAP_X, y: 0 };
  const d = `M${start.x},${start.y}C${start.x + bend.x},${start.y + bend.y} ${end.x - bend.x},${end.y - bend.y} ${end.x},${end.y}`;
  const tip = down
    ? `M${end.x - 4},${end.y - 8}L${end.x + 4},${end.y - 8}L${end.x},${end.y}Z`
    : `M${end.x - side * 8},${end.y - 4}L${end.x - side * 8},${end.y + 4}L${end.x},${end.y}Z`;
  return svgElement(
    "g",
    {},
    svgElement("title", {}, escapeSvg(words)),
    svgElement("path", { d, class: kind }),
    svgElement("path", { d: tip, class: `${kind} tip` }),
  );
}
