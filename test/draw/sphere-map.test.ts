import assert from "node:assert/strict";
import { test } from "node:test";
import { EVEN_COLOURS, NO_VALUE, SIGNED_COLOURS } from "../../src/draw/colours.js";
import { hammerAitoff } from "../../src/draw/projection.js";
import { sphereMap, type SphereMap } from "../../src/draw/sphere-map.js";

const DEGREE = Math.PI / 180;
const map: SphereMap = {
  title: "Errors <of> stars",
  quantity: 'error, "uas"',
  frame: { name: "ICRS", longitude: "right ascension", latitude: "declination" },
  longitudes: [0, 90 * DEGREE, 350 * DEGREE, 180 * DEGREE],
  latitudes: [0, 30 * DEGREE, -60 * DEGREE, 0],
  values: [10, 100, 1000, Number.NaN],
};

/** Colour and points of each band that is drawn. */
const dots = (svg: string): { colour: string; points: number[][] }[] =>
  [...svg.matchAll(/<path class="dots" d="([^"]*)" stroke="(#\w+)"/g)].map(([, d, colour]) => ({
    colour,
    points: [...d.matchAll(/M([\d.-]+) ([\d.-]+)h0/g)].map(([, x, y]) => [Number(x), Number(y)]),
  }));

test("points lie where the projection says, longitudes growing to the left, in the colours of their bands", () => {
  const found = dots(sphereMap({ ...map, log: true }));
  // Decades are spread evenly over the colours; NaN is grey.
  assert.deepEqual(
    found.map(({ colour }) => colour),
    [EVEN_COLOURS[0], EVEN_COLOURS[6], EVEN_COLOURS[11], NO_VALUE],
  );
  const [[middle], [quarter], [beyond], [edge]] = found.map(({ points }) => points);
  const unit = 180;
  for (const [point, longitude, latitude] of [
    [quarter, 90, 30],
    [beyond, -10, -60],
  ] as const) {
    const [x, y] = hammerAitoff(longitude * DEGREE, latitude * DEGREE);
    assert.ok(
      Math.abs(point[0] - (middle[0] - unit * x)) < 0.11 && Math.abs(point[1] - (middle[1] - unit * y)) < 0.11,
      `${point.join(" ")}`,
    );
  }
  assert.ok(Math.abs(Math.abs(edge[0] - middle[0]) - 2 * unit) < 0.11);
});

test("a map has a graticule, labelled axes, a legend with units, its frame, and text that is escaped", () => {
  const curve = { name: "the <ecliptic>", longitudes: [3, 3.2, 3.4], latitudes: [0, 0.1, 0.2] };
  const svg = sphereMap({ ...map, log: true, curves: [curve] });
  assert.match(svg, /^<svg xmlns="[^"]*" viewBox="0 0 \d+ \d+".*<\/svg>\n$/s);
  const words = ["right ascension (ICRS)", ">declination<", ">60°<", ">+30°<", ">-60°<", ">330°<", ">10<", ">100<", ">1000<"];
  for (const word of [
    ...words,
    "Errors &#60;of&#62; stars",
    "error, &#34;uas&#34;",
    "4 points; 1 without a value in grey",
    "the &#60;ecliptic&#62; dashed",
  ])
    assert.ok(svg.includes(word), word);
  assert.ok(!svg.includes("NaN") && !svg.includes("Infinity") && !svg.includes("<of>"));
  assert.equal(svg.match(/<ellipse /g)!.length, 1);
  // 11 meridians and 5 parallels, and a curve that is broken where it leaves the map at one side.
  assert.equal(/class="graticule" d="([^"]*)"/.exec(svg)![1].match(/M/g)!.length, 16);
  assert.equal(/class="curve-on-sphere"[^>]* d="([^"]*)"/.exec(svg)![1].match(/M/g)!.length, 2);
  assert.equal(svg.match(/<rect [^>]*height="12" fill="#/g)!.length, EVEN_COLOURS.length);
});

test("values of both signs reach from blue to red, those beyond keep the last colour", () => {
  const found = dots(sphereMap({ ...map, values: [-50, 0, 5, 1e6], reach: 10 }));
  const at = (n: number) => SIGNED_COLOURS[n];
  assert.deepEqual(
    found.map(({ colour }) => colour),
    [at(0), at(5), at(8), at(10)],
  );
});

test("of many points the means over equal cells are drawn", () => {
  const count = 6000;
  const longitudes = Array.from({ length: count }, (_, n) => (n % 2 === 0 ? 0.5 : -0.5));
  const svg = sphereMap({
    ...map,
    longitudes,
    latitudes: longitudes.map(() => 0.3),
    values: longitudes.map((_, n) => (n % 4 < 2 ? 0 : 8)),
  });
  const cells = [...svg.matchAll(/<path class="cells" d="([^"]*)" fill="(#\w+)"/g)];
  // Each cell has the mean 4 of 0 and 8, which is in the middle of the scale.
  assert.deepEqual(
    cells.map(([, d, fill]) => [d.match(/M/g)!.length, fill]),
    [[2, EVEN_COLOURS[6]]],
  );
  assert.match(svg, /means of 6000 points over cells of [\d.]+ square degrees/);
});

test("without a value the legend has no numbers; points that are not on the sphere are refused", () => {
  for (const values of [[], [Number.NaN]]) {
    const places = values.map(() => 0.1);
    const svg = sphereMap({ ...map, longitudes: places, latitudes: places, values, log: true });
    assert.ok(!svg.includes("NaN") && !svg.includes("Infinity"));
    assert.equal(svg.match(/text-anchor="middle" fill="#111">[\d.]+</g), null);
  }
  const latitudes = [0, 30, 0, 0];
  assert.throws(
    () => sphereMap({ ...map, latitudes }),
    /point 1 of the map "Errors <of> stars" has the longitude 1\.57.* and the latitude 30: give radians/,
  );
  assert.throws(() => sphereMap({ ...map, latitudes: [0] }), /4 longitudes, 1 latitudes and 4 values/);
});
