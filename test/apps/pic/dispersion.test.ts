import assert from "node:assert/strict";
import { test } from "node:test";
import { complex, type Complex } from "isoform";
import { faddeeva, langmuirAmplitude, langmuirWaves, weibel, zeros } from "../../../apps/pic/judgement/dispersion.js";

/** Of an independent implementation, in more digits where they were needed: z, w(z). */
const KNOWN = [
  [0.1, 0.1, 0.8884785624756438, 0.09433165105728493],
  [1, 0.01, 0.36870241739776616, 0.5998519944957884],
  [2, -0.5, -0.12293249482276239, 0.32755513633331274],
  [0, 0.5, 0.6156903441929258, 0],
  [-1.3, 2, 0.19782657124415548, -0.11066209456627957],
  [6, 0.001, 1.6375340027602532e-5, 0.09539620611327662],
  [3, 0, 0.00012340980408667956, 0.20115731703760037],
  [0.3, -1.2, 5.431657234145679, 5.151564718638034],
  [10, 5, 0.02276794835982029, 0.04516957942734106],
  [-4.5, 0.001, 3.023933506934306e-5, -0.1287352036338017],
  [0, 0.02, 0.9778264776835396, 0],
  [5, -0.1, -0.0024069117017845045, 0.1151944245743352],
  [30, 1, 0.0006272253836101256, 0.018795842399890714],
];

test("Faddeeva's function has its known values", () => {
  for (const [x, y, re, im] of KNOWN) {
    const w = faddeeva(complex(x, y));
    const off = Math.hypot(w.re - re, w.im - im);
    assert.ok(off < 1e-13 * Math.max(1, Math.hypot(re, im)), `w(${x} + ${y} i) is off by ${off}`);
  }
});

const near = ({ re, im }: { re: number; im: number }, expected: readonly [number, number], tolerance = 5e-8): void =>
  assert.ok(Math.hypot(re - expected[0], im - expected[1]) < tolerance, `${re} + ${im} i`);

test("frequencies are the published ones", () => {
  const maxwellian = (fraction: number, drift: number) => ({ fraction, drift, sigma: 1 });
  const nearest = (waves: readonly Complex[], re: number, im: number): Complex =>
    waves.reduce((best, wave) => (Math.hypot(wave.re - re, wave.im - im) < Math.hypot(best.re - re, best.im - im) ? wave : best));
  const damped = nearest(langmuirWaves(0.5, [maxwellian(1, 0)]), 1.4, -0.1);
  near(damped, [1.41566189, -0.15335947]);
  assert.ok(Math.abs(langmuirAmplitude(0.5, 1, damped) - 4 * 0.3677) < 1e-4);
  const streams = langmuirWaves(0.2, [maxwellian(0.5, 2.4), maxwellian(0.5, -2.4)]);
  near(nearest(streams, 0, 0.2), [0, 0.22584426]);
  near(nearest(streams, 1.34, 0), [1.33899, -0.00242], 1e-5);
  const sigma = 0.02 / Math.SQRT2;
  near(zeros(weibel(1.25, sigma, 12 * sigma ** 2), [complex(0, 0.03)])[0], [0, 0.02783712]);
});

test("waves come by their growth: both directions, and what is damped next", () => {
  const published = [
    [0.3, 1.159846, -0.01262, -0.6185],
    [0.4, 1.285057, -0.066128, -0.8791],
    [0.5, 1.415662, -0.153359, -1.1441],
  ];
  for (const [k, re, im, next] of published) {
    const [one, other, third] = langmuirWaves(k, [{ fraction: 1, drift: 0, sigma: 1 }]);
    for (const wave of [one, other])
      assert.ok(Math.hypot(Math.abs(wave.re) - re, wave.im - im) < 1e-5, `k = ${k}: ${wave.re} + ${wave.im} i`);
    assert.ok(one.re * other.re < 0 && Math.abs(third.im - next) < 1e-3, `k = ${k}: ${third.im}`);
  }
  const [growing] = langmuirWaves(0.2, [
    { fraction: 0.5, drift: 2.4, sigma: 1 },
    { fraction: 0.5, drift: -2.4, sigma: 1 },
  ]);
  near(growing, [0, 0.22584426]);
});
