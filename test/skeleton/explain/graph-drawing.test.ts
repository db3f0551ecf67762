import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container } from "../../../src/domain/grid/grid.js";
import { explainDot } from "../../../src/skeleton/explain/dot.js";
import { explainSvg } from "../../../src/skeleton/explain/graph-drawing.js";
import { planOf, stagesOf } from "../../../src/skeleton/plan/plan.js";
import { container, field, figure4 } from "../fakes.js";

function explained(containers: Container[], level: "two-way" | "none") {
  const steady = planOf(stagesOf(containers, 1, false, []), 2, level, new Set());
  return { name: "example", set: "js*2", precision: "strict", first: steady, steady, remarks: [] } as const;
}

/** Groups of all matches, joined. */
const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, ...groups]) => groups.join(" "));

test("boxes stand in rows of levels and columns of streams, 168 by 40 with gaps of 28 and 44", () => {
  const svg = explainSvg(explained(figure4().containers, "two-way"));
  assert.match(svg, /viewBox="0 0 628 456" width="628" height="456"/);
  assert.deepEqual(all(svg, /<rect x="([\d.]+)" y="([\d.]+)" width="168" height="40" class="(\w+)"/g), [
    // The graph as written
    "24 56 map",
    "24 140 stencil",
    "24 224 reduce",
    // Stream 0 begins three margins after it, stream 1 a column further.
    "240 56 map",
    "436 56 map",
    "436 140 halo",
    "240 140 stencil",
    "436 224 stencil",
    "240 224 reduce",
    "436 308 reduce",
    "436 392 collect",
  ]);
  // Names are in the middle; with a line below, both are.
  assert.deepEqual(all(svg, /<text x="([\d.]+)" y="([\d.]+)">(.*?)<\/text>/g).slice(0, 5), [
    "108 80.5 axpy",
    "108 164.5 laplace",
    "108 248.5 dot",
    "324 73 axpy",
    "520 73 axpy",
  ]);
  assert.deepEqual(all(svg, /<text x="([\d.]+)" y="([\d.]+)" class="small">(.*?)<\/text>/g).slice(0, 3), [
    "324 88 internal cells, stream 0",
    "520 88 boundary cells, stream 1",
    "520 172 stream 1",
  ]);
  assert.deepEqual(all(svg, /<text x="([\d.]+)" y="30" class="title">(.*?)<\/text>/g), ["108 as written", "422 on js*2, OCC two-way"]);
});

test("arrows lead from the lower edge to the upper one, or from side to side in a row and upwards", () => {
  const svg = explainSvg(explained(figure4().containers, "two-way"));
  const arrow = (title: string): string[] =>
    all(svg.slice(svg.indexOf(`<title>${title}`)), /<path d="([^"]*)" class="([^"]*)"/g).slice(0, 2);
  assert.deepEqual(arrow("axpy -&#62; laplace"), ["M108,96C108,118 108,118 108,140 data", "M104,132L112,132L108,140Z data tip"]);
  assert.deepEqual(arrow("axpy.boundary -&#62; laplace.internal"), [
    "M520,96C520,118 324,118 324,140 event",
    "M320,132L328,132L324,140Z event tip",
  ]);
  assert.deepEqual(arrow("axpy.internal -&#62; laplace.boundary"), [
    "M324,96C324,160 520,160 520,224 event",
    "M516,216L524,216L520,224Z event tip",
  ]);
  assert.deepEqual(arrow("axpy.boundary, then axpy.internal"), ["M436,76C408,76 436,76 408,76 hint", "M416,72L416,80L408,76Z hint tip"]);
  assert.deepEqual(arrow("dot.internal, then halo x"), ["M408,244C436,244 408,160 436,160 hint", "M428,156L428,164L436,160Z hint tip"]);
});

test("a name of two lines makes its row higher, and independent containers stand side by side", () => {
  const [x, y] = ["x", "y"].map(field);
  const long = "a name that needs more than one line";
  const svg = explainSvg(
    explained([container(long, { writes: [x] }), container("b", { writes: [y] }), container("c", { reads: [x, y] })], "none"),
  );
  assert.deepEqual(all(svg, /<rect x="([\d.]+)" y="([\d.]+)" width="168" height="(\d+)"/g).slice(0, 3), [
    "24 56 55",
    "220 56 55",
    "24 155 40",
  ]);
  assert.deepEqual(all(svg, /<text x="108" y="([\d.]+)">(.*?)<\/text>/g).slice(0, 2), [
    "80.5 a name that needs more",
    "95.5 than one line",
  ]);
});

test("Graphviz gets the classes' colours, streams in the names, bold events and dashed hints", () => {
  const dot = explainDot(explained(figure4().containers, "two-way"));
  assert.ok(dot.includes('    written_1 [label="laplace", fillcolor="#d3c2ee", tooltip="as written"];\n'));
  assert.ok(
    dot.includes('    devices_2 [label="halo x\\nstream 1", fillcolor="#f3b8b0", tooltip="laplace reads neighbours of x, whose halos '),
  );
  assert.deepEqual(all(dot, /(devices_\d) -> (devices_\d) \[tooltip=.*, style=bold\]/g), [
    "devices_1 devices_3",
    "devices_0 devices_4",
    "devices_5 devices_7",
  ]);
  assert.deepEqual(all(dot, /(devices_\d -> devices_\d) \[style=dashed/g), [
    "devices_1 -> devices_0",
    "devices_3 -> devices_2",
    "devices_5 -> devices_2",
  ]);
});
