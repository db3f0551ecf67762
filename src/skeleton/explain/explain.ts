import type { Precision } from "../../device/device.js";
import { resultsOf, type Container } from "../../domain/grid/grid.js";
import type { Edge, Reason } from "../plan/graph.js";
import type { ComputeNode, Node } from "../plan/nodes.js";
import type { Plan } from "../plan/plan.js";

/** Explanation of a skeleton. */
export interface Explained {
  readonly name: string;
  /** Name of the device set. */
  readonly set: string;
  readonly precision: Precision;
  /** Which iterations, and how many they are; undefined if all are alike. */
  readonly iterations?: string;
  /** The plan of the next iterations. */
  readonly first: Plan;
  /** The plan of those that follow, once halos have come to a steady state. */
  readonly steady: Plan;
  /** By name of a task that reduces on several members: rounds, messages and bytes that they send each other. */
  readonly traffic?: readonly (readonly [name: string, traffic: string])[];
  /** By name of a task that sends particles to other members: messages and bytes. */
  readonly particles?: readonly (readonly [name: string, traffic: string])[];
  /** The way of messages between devices of several processes; undefined where there are none. */
  readonly carried?: string;
  /** Remarks of the devices, a line each; empty before the first run. */
  readonly remarks: readonly string[];
}

/** The graph before and after planning, and why it is so, for people. */
export function explainText(explained: Explained): string {
  const { name, set, precision, iterations, steady, traffic = [], particles = [], carried, remarks } = explained;
  const { stages } = steady;
  const count = stages.iterations === 1 ? "one iteration" : `${stages.iterations} iterations`;
  const sections = [
    section("Periodic grids", periodicGrids(stages.written.nodes)),
    section("Containers as written", remarkTable(stages.written.nodes.map(containerRow))),
    section("Dependencies", [
      ...remarkTable(stages.written.edges.map(edgeRow)),
      ...stages.written.redundant.map((edge) => `${edge.from.name} -> ${edge.to.name} follows from the others`),
    ]),
    section("Swaps at the end", stages.swaps.map(([a, b]) => `${a.name} <-> ${b.name}`).join(", ")),
    section("Fusion", stages.fusion?.remarks ?? ["not asked for"]),
    section("Halo updates", halosOf(explained)),
    section("Sorts", [...new Set(steady.graph.nodes.filter((node) => node.kind === "sort").map((node) => node.reason))]),
    section("Splits", remarkTable([...steady.splits].map(([stage, { reason }]) => [steady.base.nodes[stage].name, reason]))),
    section("Dependencies on the devices", remarkTable(steady.graph.edges.map(edgeRow))),
    section("Hints for the order", remarkTable(steady.hints.map((hint) => [`${hint.from.name} -> ${hint.to.name}`, hint.reason]))),
    section(
      `Tasks in the order of launches: ${plural(steady.schedule.streams, "stream")}, ${plural(steady.schedule.events, "event")}`,
      tasksOf(steady),
    ),
    section("Messages of reductions", remarkTable(traffic)),
    section("Messages of particles", remarkTable(particles)),
    section("Messages between the devices of processes", carried ?? ""),
    section("On the devices", remarks),
  ];
  return [
    `skeleton "${name}" on ${set}: OCC ${steady.level}, ${precision}, ${count} per plan${iterations === undefined ? "" : `, ${iterations}`}`,
    ...sections.filter((text) => text !== ""),
  ].join("\n\n");
}

/** `read after write of p, write after read of s`. */
export function reasonsText(reasons: readonly Reason[]): string {
  const hazards = [...new Set(reasons.map((r) => r.hazard))];
  return hazards.map((hazard) => `${hazard} of ${namesOf(reasons.filter((r) => r.hazard === hazard).map((r) => r.datum))}`).join(", ");
}

/** Pattern of a container, from its code. */
export function containerPattern({ stencil, reduces, uses, particles, assigned }: Container): string {
  if (assigned) return "scalars";
  const maps = uses.some((use) => use.written) && !stencil ? ["map"] : [];
  return [...(particles ? ["particles"] : maps), ...(stencil ? ["stencil"] : []), ...(reduces ? ["reduce"] : [])].join(" + ");
}

/** A line for each grid with periodic axes. */
function periodicGrids(nodes: readonly ComputeNode[]): string[] {
  const grids = [...new Set(nodes.map(({ container }) => container.grid))];
  return grids
    .filter(({ periodic }) => periodic.includes(true))
    .map(({ kind, extents, periodic }) => {
      const axes = [..."xyz"].filter((_, axis) => periodic[axis]);
      return `the ${kind} grid of ${extents.join(" x ")} cells, along ${axes.join(", ")}`;
    });
}

function containerRow({ name, container }: ComputeNode): string[] {
  const { uses, scalars, axisArrays, axisFolds = [], arrays, particles, box, march, grid, location } = container;
  // Which particles are in a cell is known from fields that the sort writes.
  const fields = uses.filter(({ field }) => field !== particles?.species.first && field !== particles?.species.count);
  const columns = [...(arrays?.values() ?? [])];
  const around = (n: number) => (n === 0 ? "" : n === 1 ? " and a neighbour" : ` and ${n} neighbours`);
  const reads = [
    ...fields.filter((use) => use.read).map((use) => use.field.name + around(use.offsets.length)),
    ...columns.filter((use) => use.read).map((use) => use.array.name),
    ...[...(axisArrays ?? [])].map(([param, { axes }]) => `${param} along ${axes.map((axis) => "xyz"[axis]).join(" and ")}`),
    ...[...scalars.values()].map((scalar) => scalar.name),
  ];
  const writes = [
    ...uses.filter((use) => use.written).map((use) => use.field),
    ...columns.filter((use) => use.written).map((use) => use.array),
    ...resultsOf(container),
    ...axisFolds.map(({ array }) => array),
  ];
  return [
    name,
    containerPattern(container) + (march ? ` along ${"xyz"[grid.dimension - 1 - march.axis]}` : "") + (box ? ` on ${box.name}` : ""),
    reads.length ? `reads ${reads.join(", ")}` : "reads nothing",
    `writes ${namesOf(writes)}`,
    `${location.file.split("/").at(-1)}:${location.line}`,
  ];
}

const edgeRow = ({ from, to, reasons }: Edge<{ readonly name: string }>): string[] => [`${from.name} -> ${to.name}`, reasonsText(reasons)];

function halosOf({ first, steady }: Explained): string[] {
  const halos = (plan: Plan) => plan.graph.nodes.filter((node): node is Node & { kind: "halo" } => node.kind === "halo");
  const key = (node: Node & { kind: "halo" }) => `${node.stage} ${node.name}`;
  const again = new Set(halos(steady).map(key));
  const storing = steady.graph.nodes.filter((node) => node.kind === "compute" && node.peerStored.length > 0) as ComputeNode[];
  return [
    ...storing.map(({ name, peerStored, reason }) => `none of ${namesOf(peerStored)} after ${name}: ${reason}`),
    ...halos(steady).map((node) => node.reason),
    ...halos(first)
      .filter((node) => !again.has(key(node)))
      .map((node) => `at the start only: ${node.reason}`),
  ];
}

function tasksOf({ schedule: { tasks } }: Plan): string[] {
  return remarkTable(
    tasks.map(({ node, stream, waits, reason }, n) => [
      `${n + 1}`,
      `stream ${stream}`,
      node.name,
      waits.length ? `waits for ${namesOf(waits.map((task) => task.node))}` : "",
      reason,
    ]),
  );
}

const namesOf = (list: readonly { readonly name: string }[]): string => list.map(({ name }) => name).join(", ");
const plural = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`;

function section(title: string, body: string | readonly string[]): string {
  const lines = typeof body === "string" ? [body].filter((text) => text !== "") : body;
  return lines.length === 0 ? "" : [title, ...lines.map((text) => `  ${text}`)].join("\n");
}

const WIDEST = 80;

/** Columns side by side, each as wide as its widest cell, but no wider than most lines: what is longer moves the rest of its line. */
export function remarkTable(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, c) => Math.min(WIDEST, Math.max(...rows.map((row) => row[c].length))));
  return rows.map((row) =>
    row
      .map((cell, c) => cell.padEnd(widths[c]))
      .join("  ")
      .trimEnd(),
  );
}
