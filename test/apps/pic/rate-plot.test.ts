import assert from "node:assert/strict";
import { test } from "node:test";
import { ratePlot } from "../../../apps/pic/judgement/rate-plot.js";

const times = Array.from({ length: 401 }, (_, n) => n / 4);
const curve = (label: string, rate: number, offset: number, from: number, to: number) => ({ label, rate, offset, from, to });
const numbers = (line: string): number[] => JSON.parse(line.slice(line.indexOf("["))) as number[];

test("a plot of a rate has the series, the fit and the expected line over the time of the fit", () => {
  const values = times.map((t) => Math.exp(0.1 * t - 5) * (1 + 0.1 * Math.sin(t)));
  const curves = [curve("fit", 0.1, -5, 20, 70), curve("theory", 0.11, -5.45, 20, 70)];
  const lines = ratePlot("a wave", { times, values }, curves).split("\n");
  assert.deepEqual(
    [lines[0], lines[2], lines[3], lines[4], lines.at(-1)],
    ["```mermaid", "xychart-beta", '  title "a wave"', '  x-axis "time" 10 --> 80', "```"],
  );
  assert.match(lines[5], /^ {2}y-axis "log10 of the amplitude" -?\d+\.\d\d --> -?\d+\.\d\d$/);
  const [low, high] = lines[5].match(/-?\d+\.\d\d/g)!.map(Number);
  const [simulated, fitted, expected] = lines.slice(6, 9).map(numbers);
  for (const [n, fit] of fitted.entries()) {
    const t = 10 + 0.7 * n;
    assert.ok(Math.abs(fit - (0.1 * t - 5) / Math.LN10) < 1e-3);
    assert.ok(Math.abs(expected[n] - (0.11 * t - 5.45) / Math.LN10) < 1e-3);
    assert.ok(Math.abs(simulated[n] - fit) < 0.06);
    for (const value of [fit, expected[n], simulated[n]]) assert.ok(value >= low - 0.01 && value <= high);
  }
  assert.equal(fitted.length, 101);
  assert.equal(simulated.length, 101);
});

test("fits that follow each other make one line, and zeros end at the lower edge", () => {
  const values = times.map((t) => (t === 50 ? 0 : 1));
  const curves = [
    curve("fit", -0.2, 0, 0, 20),
    curve("theory", -0.2, 0, 0, 20),
    curve("fit", 0.2, -20, 80, 100),
    curve("theory", 0.2, -20, 80, 100),
  ];
  const lines = ratePlot("decay and growth", { times, values }, curves).split("\n");
  const [low] = lines[5].match(/-?\d+\.\d\d/g)!.map(Number);
  const [simulated, fitted] = lines.slice(6, 9).map(numbers);
  assert.ok(Math.abs(fitted[0]) < 1e-3 && Math.abs(fitted[50] + 10 / Math.LN10) < 1e-3 && Math.abs(fitted[100]) < 1e-3);
  assert.ok(Math.abs(simulated[50] - low - 0.1) < 0.01);
});
