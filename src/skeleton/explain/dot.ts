import { reasonsText, type Explained } from "./explain.js";
import type { DependencyGraph } from "../plan/graph.js";
import { kindOf, type NodeKind } from "./graph-drawing.js";
import type { Node } from "../plan/nodes.js";

/** Green maps, purple stencils, blue reductions and red synchronisations, as in the paper's figure 4. */
const FILL: Record<NodeKind, string> = {
  map: "#b7e1b0",
  stencil: "#d3c2ee",
  reduce: "#b5d3f2",
  scalars: "#eceadf",
  halo: "#f3b8b0",
  collect: "#f3b8b0",
  move: "#f3b8b0",
  pack: "#f6dfa4",
  sort: "#f6dfa4",
};

/** The graph as written and the graph on the devices, for Graphviz. Events are bold, hints dashed. */
export function explainDot({ name, set, steady }: Explained): string {
  const stream = new Map(steady.schedule.tasks.map((task) => [task.node, task.stream]));
  const before = cluster(
    "written",
    steady.stages.written,
    () => "",
    () => false,
  );
  const after = cluster(
    "devices",
    steady.graph,
    (node) => `\\nstream ${stream.get(node)}`,
    (from, to) => stream.get(from) !== stream.get(to),
  );
  const hints = steady.hints.map(({ from, to, reason }) => {
    const id = (node: Node) => `devices_${steady.graph.nodes.indexOf(node)}`;
    return `    ${id(from)} -> ${id(to)} [style=dashed, color="#e08a1e", constraint=false, tooltip=${quoted(reason)}];`;
  });
  return [
    `digraph ${quoted(name)} {`,
    `  node [shape=box, style="filled,rounded", fontname="sans-serif"];`,
    `  edge [fontname="sans-serif", fontsize=10];`,
    `  subgraph cluster_written { label="as written";`,
    ...before,
    "  }",
    `  subgraph cluster_devices { label=${quoted(`on ${set}, OCC ${steady.level}`)};`,
    ...after,
    ...hints,
    "  }",
    "}",
    "",
  ].join("\n");
}

function cluster<N extends Node>(
  prefix: string,
  graph: DependencyGraph<N>,
  suffix: (node: N) => string,
  event: (from: N, to: N) => boolean,
): string[] {
  const id = (node: N) => `${prefix}_${graph.nodes.indexOf(node)}`;
  return [
    ...graph.nodes.map(
      (node) =>
        `    ${id(node)} [label="${escaped(node.name)}${suffix(node)}", fillcolor="${FILL[kindOf(node)]}", tooltip=${quoted(node.reason)}];`,
    ),
    ...graph.edges.map(
      ({ from, to, reasons }) =>
        `    ${id(from)} -> ${id(to)} [tooltip=${quoted(reasonsText(reasons))}${event(from, to) ? ", style=bold" : ""}];`,
    ),
  ];
}

const escaped = (text: string): string => text.replace(/["\\]/g, "\\$&");
const quoted = (text: string): string => `"${escaped(text)}"`;
