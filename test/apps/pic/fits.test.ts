import assert from "node:assert/strict";
import { test } from "node:test";
import { CASES } from "../../../apps/pic/cases.js";
import { chart } from "../../../apps/pic/chart.js";
import { exponential, frequency, growthBeside, peaks, seriesOf, within, type Series } from "../../../apps/pic/fits.js";

const sampled = (from: number, to: number, step: number, value: (t: number) => number): Series => {
  const times = Array.from({ length: Math.round((to - from) / step) + 1 }, (_, n) => from + n * step);
  return { times, values: times.map(value) };
};

test("an exponential is found again", () => {
  const series = sampled(0, 10, 0.1, (t) => 3 * Math.exp(0.7 * t));
  const fit = exponential(within(series, 2, 5))!;
  assert.ok(Math.abs(fit.rate - 0.7) < 1e-12 && Math.abs(fit.offset - Math.log(3)) < 1e-12);
  assert.equal(within(series, 2, 5).times.length, 31);
  assert.equal(exponential(within(series, 2, 2)), undefined);
});

test("peaks of a damped wave give its rate and frequency", () => {
  const wave = sampled(0, 16, 0.1, (t) => Math.exp(-0.15 * t) * Math.abs(Math.cos(1.4 * t - 0.5)));
  const found = peaks(wave).slice(0, 5);
  assert.ok(Math.abs(exponential(seriesOf(found))!.rate + 0.15) < 1e-4);
  assert.ok(Math.abs(frequency(found) - 1.4) < 1e-3);
});

test("growth is found beside a wave of another frequency", () => {
  const series = sampled(8, 20, 0.1, (t) => 1e-3 * Math.exp(0.22 * t) + 2e-3 * Math.cos(1.34 * t) - 1e-3 * Math.sin(1.34 * t));
  const { rate, offset } = growthBeside(series, 1.34, 0.5);
  assert.ok(Math.abs(rate - 0.22) < 1e-8 && Math.abs(offset - Math.log(1e-3)) < 1e-6);
});

test("cases find the rates of series that have them, and say nothing of short ones", () => {
  const rates: Record<string, number> = {
    weibel: 0.02783712,
    "streaming-weibel": 0.12871,
    "two-stream": 0.22584426,
    "bump-on-tail": 0.198098,
  };
  for (const [name, rate] of Object.entries(rates)) {
    const { judge, defaults } = CASES.find((each) => each.name === name)!;
    const { comparisons, curves } = judge(
      sampled(0, defaults.time, 0.1, (t) => 1e-4 * Math.exp(rate * t)),
      defaults,
    );
    assert.equal(comparisons.length, 1, name);
    assert.ok(Math.abs(comparisons[0].expected - rate) < 1e-5 && Math.abs(comparisons[0].fitted - rate) < 1e-5, name);
    assert.equal(curves.length, 2);
    assert.equal(
      judge(
        sampled(0, 5, 0.1, () => 1),
        defaults,
      ).comparisons.length,
      0,
    );
  }
});

test("a damped wave is recognised by its rate, frequency and amplitude", () => {
  const { judge, defaults } = CASES.find(({ name }) => name === "landau")!;
  // Amplitude and phase as published: 4 alpha 0.3677 and 0.5362.
  const wave = (t: number): number =>
    4 * defaults.amplitude * 0.3677 * Math.exp(-0.15335947 * t) * Math.abs(Math.cos(1.41566189 * t - 0.5362));
  const { comparisons } = judge(sampled(0, 16, 0.05, wave), defaults);
  assert.deepEqual(
    comparisons.map(({ quantity }) => quantity),
    ["damping rate", "frequency", "amplitude"],
  );
  for (const { quantity, fitted, expected } of comparisons)
    assert.ok(Math.abs(fitted / expected - 1) < 5e-4, `${quantity}: ${fitted}, ${expected}`);
});

test("a chart is drawn of the series and its curves", () => {
  const svg = chart(
    "a < b",
    "E1",
    sampled(0, 10, 0.5, (t) => Math.exp(-t)),
    [{ label: "fit", rate: -1, offset: 0, from: 1, to: 9 }],
  );
  assert.match(svg, />a &#60; b</);
  for (const name of ["E1", "measured", "fit"]) assert.ok(svg.includes(`>${name}</text>`), name);
  assert.match(svg, />1e-5</);
  assert.equal(svg.match(/class="fit"/g)!.length, 2);
  assert.ok(!/NaN|Infinity|undefined/.test(svg));
});
