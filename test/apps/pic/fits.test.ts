import assert from "node:assert/strict";
import { test } from "node:test";
import { CASES } from "../../../apps/pic/simulation/cases.js";
import { chart } from "../../../apps/pic/judgement/chart.js";
import {
  dampedWave,
  exponential,
  growthBeside,
  growthBesideLight,
  noiseError,
  peaks,
  seriesOf,
  within,
  type Series,
} from "../../../apps/pic/judgement/fits.js";

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
  // Half a period from one peak to the next.
  found.slice(1).forEach(({ time }, n) => assert.ok(Math.abs(time - found[n].time - Math.PI / 1.4) < 2e-3));
});

test("a damped wave is found under noise, and where peaks alone are misled", () => {
  const wave = (t: number): number => Math.exp(-0.0661 * t) * Math.cos(1.285 * t - 0.4);
  const exact = dampedWave(sampled(6, 30, 0.1, (t) => 2 * Math.abs(wave(t))))!;
  assert.ok(Math.abs(exact.rate + 0.0661) < 1e-9 && Math.abs(exact.omega - 1.285) < 1e-9);
  // The envelope goes back to t = 0.
  assert.ok(Math.abs(Math.exp(exact.offset) - 2) < 1e-8);
  // A wave that is damped faster lifts the first peaks, noise of one size the last.
  const disturbed = (t: number): number =>
    Math.abs(wave(t) + 0.8 * Math.exp(-0.88 * t) * Math.cos(1.46 * t) + 0.01 * Math.sin(37 * t) * Math.sin(5.3 * t));
  const series = sampled(0, 40, 0.1, disturbed);
  const fromPeaks = exponential(seriesOf(peaks(series).slice(0, 5)))!.rate;
  const late = dampedWave(within(series, 6, 40))!;
  assert.ok(Math.abs(late.rate + 0.0661) < 5e-4 && Math.abs(fromPeaks + 0.0661) > 3e-3, `${late.rate}, by five peaks ${fromPeaks}`);
  assert.equal(dampedWave(sampled(0, 3, 0.1, (t) => Math.exp(-t))), undefined);
});

test("growth is found beside a wave of another frequency", () => {
  const series = sampled(8, 20, 0.1, (t) => 1e-3 * Math.exp(0.22 * t) + 2e-3 * Math.cos(1.34 * t) - 1e-3 * Math.sin(1.34 * t));
  const { rate, offset } = growthBeside(series, 1.34, 0.5)!;
  assert.ok(Math.abs(rate - 0.22) < 1e-8 && Math.abs(offset - Math.log(1e-3)) < 1e-6);
});

/** |A exp(rate t + i phase) + cos(omega t)| as light of amplitude 1 beside a wave that grew out of noise. */
const besideLight =
  (start: number, rate: number, omega: number, phase: number) =>
  (t: number): number =>
    Math.hypot(start * Math.exp(rate * t) * Math.cos(phase) + Math.cos(omega * t), start * Math.exp(rate * t) * Math.sin(phase));

test("growth is found beside light that is larger, whatever the phases", () => {
  for (const phase of [0, 0.4, 1.5, 2.8]) {
    const series = sampled(60, 180, 0.5, besideLight(0.03, 0.0225, 2.2365, phase));
    const { rate, offset, error } = growthBesideLight(series, 0.03, 2.23)!;
    assert.ok(Math.abs(rate - 0.0225) < 1e-7 && Math.abs(offset - Math.log(0.03)) < 1e-5 && error < 1e-7, `${phase}: ${rate}`);
    // What the straight line through the logarithms makes of it.
    assert.ok(Math.abs(exponential(series)!.rate / 0.0225 - 1) > 0.05);
  }
});

test("the Weibel cases fit beside light, over e-foldings of their own rate", () => {
  const { judge, defaults } = CASES.find(({ name }) => name === "weibel")!;
  const options = { ...defaults, k: 2 };
  const { comparisons, curves, remark } = judge(sampled(0, 200, 0.5, besideLight(0.1, 0.0225031, 2.2365, 1)), options);
  assert.ok(Math.abs(comparisons[0].fitted / comparisons[0].expected! - 1) < 1e-4, `${comparisons[0].fitted}`);
  assert.equal(remark, undefined);
  assert.ok(Math.abs(curves[0].from - 2.8 / 0.0225031) < 0.01 && curves[0].to === 200);
});

test("a wave that saturates is fitted before it does, or not at all", () => {
  const { judge, defaults } = CASES.find(({ name }) => name === "two-stream")!;
  const until = (top: number) => sampled(0, 30, 0.1, (t) => 1e-4 * Math.exp(0.22584426 * Math.min(t, top)) * (1 + 1e-3 * Math.sin(t)));
  const { comparisons, curves } = judge(until(20), defaults);
  assert.ok(Math.abs(comparisons[0].fitted / 0.22584426 - 1) < 0.01 && curves[0].to < 20 - 1 / 0.22584426, `${comparisons[0].fitted}`);
  const early = judge(until(9), defaults);
  assert.deepEqual(early.comparisons, []);
  assert.match(early.remark!, /has stopped growing at the end of the run, .* smaller --amplitude/);
});

test("theory of stable plasmas is shown: of light, and of beams that are damped", () => {
  const weibel = CASES.find(({ name }) => name === "weibel")!;
  const options = { ...weibel.defaults, temperatures: [0.0024, 0.0002] };
  // As seldom as the case samples, so that peaks tell of another frequency.
  const light = weibel.judge(
    sampled(0, 60, 0.8, (t) => 1e-4 * Math.abs(Math.cos(1.6011 * t))),
    options,
  );
  const [rate, omega] = light.comparisons;
  assert.deepEqual([rate.quantity, rate.expected, omega.quantity], ["damping rate", 0, "frequency"]);
  assert.ok(Math.abs(omega.expected! - 1.6007) < 1e-3 && Math.abs(omega.fitted - 1.6011) < 1e-6, `${omega.expected}`);
  const streams = CASES.find(({ name }) => name === "two-stream")!;
  const [damped] = streams.judge(
    sampled(0, 22, 0.1, (t) => Math.exp(-0.1 * t) * Math.abs(Math.cos(1.5 * t))),
    { ...streams.defaults, drifts: [0.1, -0.1], k: 0.5 },
  ).comparisons;
  assert.ok(damped.expected! < -0.1, `${damped.expected}`);
});

test("a fit that noise hides says so, with its error bar", () => {
  const { judge, defaults } = CASES.find(({ name }) => name === "landau")!;
  const wave = sampled(0, 16, 0.1, (t) => 0.05 * Math.exp(-0.01262 * t) * Math.abs(Math.cos(1.15985 * t - 0.2)));
  const options = { ...defaults, k: 0.3 };
  assert.equal(judge(wave, options).remark, undefined);
  const noise = wave.times.map(() => 5e-4);
  const { comparisons, remark } = judge({ ...wave, noise }, options);
  // 1 % of the wave over half of a window of 8.4.
  assert.ok(Math.abs(comparisons[0].error! / (0.01 / (8.4 / Math.sqrt(3))) - 1) < 0.3, `${comparisons[0].error}`);
  assert.match(remark!, /the damping rate is known to 1\d % only, an error bar of 0\.00\d+: noise, .* more --particles/);
  assert.equal(noiseError(wave, { rate: -0.01, offset: 0 }), 0);
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
    assert.ok(Math.abs(comparisons[0].expected! - rate) < 1e-5 && Math.abs(comparisons[0].fitted - rate) < 1e-5, name);
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

test("a window is where the rate is fitted; without a theory rates are measured alone", () => {
  const { judge, defaults } = CASES.find(({ name }) => name === "landau")!;
  // Other rates before and after.
  const amplitude = (t: number): number => Math.exp(t < 5 ? -0.5 * t : t < 15 ? -2 - 0.1 * t : -0.5 - 0.2 * t);
  const series = sampled(0, 20, 0.1, (t) => amplitude(t) * Math.abs(Math.cos(1.4 * t)));
  const distribution = { density: () => 1, velocities: [[-1, 1]] as const };
  const [rate, omega, ...others] = judge(series, { ...defaults, window: [5.05, 14.95], distribution }).comparisons;
  assert.ok(Math.abs(rate.fitted + 0.1) < 1e-6 && Math.abs(omega.fitted - 1.4) < 1e-6);
  assert.deepEqual([rate.expected, omega.expected, others.length], [undefined, undefined, 0]);
  assert.ok(Math.abs(judge(series, { ...defaults, window: [5.05, 14.95] }).comparisons[0].expected! + 0.15336) < 1e-5);
  assert.equal(judge(series, { ...defaults, window: [5, 30] }).comparisons.length, 0);
  const growing = judge(
    sampled(0, 10, 0.1, (t) => Math.exp(0.3 * t)),
    { ...defaults, distribution },
  );
  assert.deepEqual(
    growing.comparisons.map(({ quantity, fitted }) => [quantity, fitted.toFixed(6)]),
    [["rate", "0.300000"]],
  );
});

test("options that make no plasma are refused, with the remedy", () => {
  const { problem, defaults } = CASES.find(({ name }) => name === "two-stream")!;
  const weibel = CASES.find(({ name }) => name === "weibel")!;
  for (const [options, message] of [
    [{ k: 0 }, /a wave number of 0: --k needs a number greater than 0/],
    [{ mode: 1.5 }, /a mode of 1\.5: --mode needs a whole number/],
    [{ mode: 17 }, /64 cells for 17 waves: a wave needs 4, so ask for 68 --cells or more/],
    [{ fractions: [0.5, 0.4] }, /--fractions 0\.5,0\.4 add up to 0\.9: give shares above 0 that add up to 1/],
    [{ drifts: [3] }, /1 --drifts for 2 beams: give one for each of the --fractions/],
    [{ temperatures: [1, 0] }, /--temperatures 1,0: give numbers greater than 0/],
    [{ temperatures: [1] }, /1 --temperatures for 2 beams/],
    [{ window: [5, 2] }, /a window from 5 to 2: give two times, the earlier first/],
  ] as const)
    assert.throws(() => problem({ ...defaults, ...options }), message);
  assert.throws(() => weibel.problem({ ...weibel.defaults, temperatures: [1] }), /1 --temperatures: give 2, one along each axis/);
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
    assert.ok(Math.abs(fitted / expected! - 1) < 5e-4, `${quantity}: ${fitted}, ${expected}`);
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
