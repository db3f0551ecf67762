import assert from "node:assert/strict";
import { test } from "node:test";
import { reportPage } from "../../../apps/gsr/report-page.js";
import { randomStars } from "../../../apps/gsr/scanning/stars.js";
import { Convergence } from "../../../apps/gsr/section-steps.js";
import { sections, type Shape } from "../../../apps/gsr/shape.js";

const STARS = 30;
const shape: Shape = { stars: STARS, observations: 900, knots: 10, pixels: 4, intervals: 1, ccds: 5, globals: 1 };
const { unknowns } = sections(shape);
const errors = Float64Array.from({ length: unknowns }, (_, j) => (j < 5 ? 0 : 1 + (j % 7)));
const x = Float64Array.from({ length: unknowns }, (_, j) => 100 + Math.sin(j));
const scaling = new Float64Array(unknowns).fill(1);
const convergence = new Convergence();
convergence.points = [1, 10, 100].map((iteration) => ({
  iteration,
  squares: [4, 1, 0.25, 1e-4].map((s) => s / iteration),
  gradient: 1 / iteration,
}));
const content = { shape, results: { x, errors, label: "standard error, 50 probes," }, scaling, convergence, text: "stars < sky & more\n" };

const titles = (page: string): string[] => [...page.matchAll(/<svg [^>]*aria-label="([^".]*)/g)].map(([, title]) => title);

test("the page has maps of errors and deviations, the convergence of four sections, and its text", () => {
  const page = reportPage({ ...content, stars: randomStars(STARS, 1), truth: new Float64Array(unknowns).fill(100) });
  const maps = ["Errors of positions", "Errors of parallaxes", "Positions against the truth", "Parallaxes against the truth"];
  assert.deepEqual(titles(page), [...maps, "Convergence"]);
  for (const word of [
    "stars &#60; sky &#38; more",
    "standard error, 50 probes, uas",
    "x - truth, uas",
    "right ascension (ICRS)",
    "ecliptic dashed",
  ])
    assert.ok(page.includes(word), word);
  // The first star has left the system.
  assert.equal(page.match(/30 points; 1 without a value in grey/g)!.length, 4);
  for (const section of ["astrometry", "attitude", "instrument", "global"]) assert.ok(page.includes(`>${section}<`), section);
  assert.ok(!page.includes("NaN") && !page.includes("undefined"));
});

test("a curve of a section is the root mean square of its steps", () => {
  const page = reportPage(content);
  assert.deepEqual(titles(page), ["Convergence"]);
  const [panel] = page.split("<g transform").slice(1);
  const heights = [...panel.matchAll(/class="curve" stroke="(#\w+)"[^>]* d="M[\d.]+ ([\d.]+)L/g)].map(([, , y]) => Number(y));
  const { attitude, instrument, global } = sections(shape);
  const counts = [attitude, instrument - attitude, global - instrument, 1];
  const expected = [4, 1, 0.25, 1e-4].map((square, n) => Math.log10(Math.sqrt(square / counts[n])));
  assert.equal(heights.length, 4);
  // Heights are linear in the logarithm.
  const slope = (heights[3] - heights[0]) / (expected[3] - expected[0]);
  for (const n of [1, 2]) assert.ok(Math.abs(heights[n] - heights[0] - slope * (expected[n] - expected[0])) < 0.2, heights.join(" "));
});

test("without a truth there are the errors alone, without stars and iterations neither", () => {
  assert.deepEqual(titles(reportPage({ ...content, stars: randomStars(STARS, 1) })).length, 3);
  assert.deepEqual(titles(reportPage({ ...content, convergence: new Convergence() })), []);
});
