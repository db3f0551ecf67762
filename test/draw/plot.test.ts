import assert from "node:assert/strict";
import { test } from "node:test";
import { plot, type Panel } from "../../src/draw/plot.js";

const panel: Panel = {
  title: "a < b",
  x: { label: "x / h", log: true, from: 0.1, to: 100 },
  y: { label: "y" },
  curves: [
    { name: "line & more", as: "line", x: [0, 0.1, 10], y: [5, 0, 10] },
    { name: "points", as: "points", x: [1, 10, 100], y: [2, Number.NaN, 4] },
  ],
};

test("a plot has its curves to scale, axes with units, and a legend", () => {
  const svg = plot("title", [panel, { ...panel, x: { label: "x" } }]);
  assert.equal(svg.match(/<g transform=/g)!.length, 2);
  for (const word of ["x / h", "a &#60; b", "line &#38; more", ">0.1<", ">100<"]) assert.ok(svg.includes(word), word);
  // The axes' box is 336 by 222 pixels; 0.1 is at its left, 10 two thirds on; 0 at the bottom and 10 at the top.
  assert.ok(svg.includes('d="M76.0 252.0L300.0 30.0"'));
  // NaN has no point; one stands in the legend.
  assert.equal(svg.match(/<circle/g)!.length, 2 * 3);
  assert.equal(svg.match(/class="frame"/g)!.length, 2);
});

test("curves without values leave the axes", () => {
  const svg = plot("none", [{ ...panel, x: { label: "x", log: true }, curves: [{ name: "none", as: "line", x: [], y: [] }] }]);
  assert.ok(!svg.includes("NaN") && !svg.includes("Infinity"));
});
