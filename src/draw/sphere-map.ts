import { IsoformError } from "../base/errors.js";
import { EVEN_COLOURS, NO_VALUE, SIGNED_COLOURS } from "./colours.js";
import { hammerAitoff } from "./projection.js";
import { drawingFile, svgElement, svgText } from "./svg.js";

/** A curve on the sphere, such as the ecliptic; angles in radians, neighbours less than half a turn apart. */
interface SphereCurve {
  readonly name: string;
  readonly longitudes: ArrayLike<number>;
  readonly latitudes: ArrayLike<number>;
}

/** A map of values at points of the sphere. */
export interface SphereMap {
  readonly title: string;
  /** Quantity and unit of the values: `standard error, uas`. */
  readonly quantity: string;
  /** Names of the coordinates: `ICRS`, `right ascension`, `declination`. */
  readonly frame: { readonly name: string; readonly longitude: string; readonly latitude: string };
  /** Radians; longitude 0 is in the middle. */
  readonly longitudes: ArrayLike<number>;
  readonly latitudes: ArrayLike<number>;
  /** One for each point. NaN is drawn in grey. */
  readonly values: ArrayLike<number>;
  /** Colours in equal steps of the logarithm; values of 0 and less then have none. */
  readonly log?: boolean;
  /** For values of both signs: from blue over white to red, from minus to plus this value. Beyond it colours stay the same. */
  readonly reach?: number;
  readonly curves?: readonly SphereCurve[];
}

/** Points that are drawn one by one, at most; the mean of those in a cell of `CELL` pixels is drawn where there are more. */
const MOST_DOTS = 5000;
const CELL = 5;
/** Pixels a unit of the plane, and of the margins around the ellipse. */
const UNIT = 180;
const MARGIN = { left: 62, right: 22, top: 46, bottom: 116 };
const [WIDTH, HEIGHT] = [4 * UNIT + MARGIN.left + MARGIN.right, 2 * UNIT + MARGIN.top + MARGIN.bottom];
const DOT = 5;
const DEGREE = Math.PI / 180;
/** Degrees between lines of the graticule, and between the points that they are drawn through. */
const [GRATICULE, FINE] = [30, 3];
const LEGEND_TICKS = 4;

/** Place of a direction in the drawing, pixels: longitudes grow to the left, as on the sky seen from inside. */
function pixelOf(longitude: number, latitude: number): [x: number, y: number] {
  const [x, y] = hammerAitoff(longitude - 2 * Math.PI * Math.round(longitude / (2 * Math.PI)), latitude);
  return [MARGIN.left + UNIT * (2 - x), MARGIN.top + UNIT * (1 - y)];
}

/**
 * An SVG file with a map of the sphere in the projection of Hammer and Aitoff, which keeps areas: points in colour, lines of latitude and longitude, and a
 * legend. Of more than 5000 points it shows means over cells of equal area. Throws IsoformError for points that are not on the sphere.
 */
export function sphereMap(map: SphereMap): string {
  const { title, quantity, frame, longitudes, latitudes, values, curves = [] } = map;
  requirePlaces(map);
  const scale = scaleOf(map);
  const cells = longitudes.length > MOST_DOTS;
  const places = Array.from(longitudes, (longitude, n) => [...pixelOf(longitude, latitudes[n]), values[n]] as const);
  const coordinates = `${frame.name}, ${frame.longitude} and ${frame.latitude} in degrees`;
  const degrees = (CELL / UNIT) ** 2 * 2 * (180 / Math.PI) ** 2;
  const shown = cells
    ? `means of ${longitudes.length} points over cells of ${degrees.toFixed(1)} square degrees`
    : `${longitudes.length} point${longitudes.length === 1 ? "" : "s"}`;
  return `${drawingFile(
    WIDTH,
    HEIGHT,
    title,
    `Map of the sphere, ${shown}; ${quantity}; ${coordinates}`,
    "",
    svgElement("rect", { width: WIDTH, height: HEIGHT, fill: "white" }),
    svgElement(
      "g",
      { "font-family": "sans-serif", "font-size": 12 },
      svgText(WIDTH / 2, 24, title, { "text-anchor": "middle", "font-size": 15, fill: "#111" }),
      graticule(),
      cells ? drawCells(places, scale) : drawDots(places, scale),
      ...curves.map((curve) => svgElement("path", { ...CURVE, d: through(curve.longitudes, curve.latitudes) })),
      svgElement("ellipse", EDGE),
      labels(map),
      legend(map, scale, shown),
    ),
  )}\n`;
}

function requirePlaces({ title, longitudes, latitudes, values }: SphereMap): void {
  if (longitudes.length !== latitudes.length || longitudes.length !== values.length)
    throw new IsoformError(
      `the map "${title}" has ${longitudes.length} longitudes, ${latitudes.length} latitudes and ${values.length} values: give each point one of each`,
    );
  for (let n = 0; n < longitudes.length; n++)
    if (!Number.isFinite(longitudes[n]) || !(Math.abs(latitudes[n]) <= Math.PI / 2 + 1e-9))
      throw new IsoformError(
        `point ${n} of the map "${title}" has the longitude ${longitudes[n]} and the latitude ${latitudes[n]}: give radians`,
      );
}

const EDGE = { cx: MARGIN.left + 2 * UNIT, cy: MARGIN.top + UNIT, rx: 2 * UNIT, ry: UNIT, fill: "none", stroke: "#444" };
const CURVE = { class: "curve-on-sphere", fill: "none", stroke: "#c2185b", "stroke-width": 1.4, "stroke-dasharray": "7 4" };

/** Bands of colour over values. */
interface ColourScale {
  readonly colours: readonly string[];
  /** Number of the value's band; `colours.length` for no value. */
  band(value: number): number;
  /** Value at a part of the legend, 0 to 1. */
  at(part: number): number;
}

function scaleOf({ values, log, reach }: SphereMap): ColourScale {
  const colours = reach === undefined ? EVEN_COLOURS : SIGNED_COLOURS;
  const known = Array.from(values).filter((value) => Number.isFinite(value) && (!log || value > 0));
  const [least, most] =
    reach === undefined
      ? [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), -Infinity)]
      : [-reach, reach];
  const [to, back] = log ? [Math.log, Math.exp] : [(value: number) => value, (value: number) => value];
  const [from, span] = known.length > 0 ? [to(least), to(most) - to(least) || 1] : [0, 1];
  return {
    colours,
    band: (value) =>
      Number.isFinite(to(value))
        ? Math.max(0, Math.min(colours.length - 1, Math.floor(((to(value) - from) / span) * colours.length)))
        : colours.length,
    at: (part) => back(from + part * span),
  };
}

type Place = readonly [x: number, y: number, value: number];
const px = (value: number): string => String(Number(value.toFixed(1)));

/** A path of round dots for each band. */
function drawDots(places: readonly Place[], { colours, band }: ColourScale): string {
  const paths = Array.from({ length: colours.length + 1 }, () => "");
  for (const [x, y, value] of places) paths[band(value)] += `M${px(x)} ${px(y)}h0`;
  return paths
    .map((d, n) =>
      d === ""
        ? ""
        : // White between blue and red is told from the paper by a rim.
          svgElement("path", { d, stroke: "#666", "stroke-width": DOT + 1, "stroke-linecap": "round" }) +
          svgElement("path", { class: "dots", d, stroke: colours[n] ?? NO_VALUE, "stroke-width": DOT, "stroke-linecap": "round" }),
    )
    .join("");
}

/** A path of squares for each band, with the means of the values in them. */
function drawCells(places: readonly Place[], { colours, band }: ColourScale): string {
  const sums = new Map<string, { x: number; y: number; sum: number; count: number }>();
  for (const [px, py, value] of places) {
    const [x, y] = [Math.floor(px / CELL), Math.floor(py / CELL)];
    const key = `${x} ${y}`;
    const cell = sums.get(key) ?? { x, y, sum: 0, count: 0 };
    sums.set(key, Number.isNaN(value) ? cell : { ...cell, sum: cell.sum + value, count: cell.count + 1 });
  }
  const paths = Array.from({ length: colours.length + 1 }, () => "");
  for (const { x, y, sum, count } of sums.values()) paths[band(sum / count)] += `M${CELL * x} ${CELL * y}h${CELL}v${CELL}h${-CELL}z`;
  return paths.map((d, n) => (d === "" ? "" : svgElement("path", { class: "cells", d, fill: colours[n] ?? NO_VALUE }))).join("");
}

/** A line through points, broken where it leaves the map at one side and comes back at the other. */
function through(longitudes: ArrayLike<number>, latitudes: ArrayLike<number>): string {
  let d = "";
  let before = Infinity;
  for (let n = 0; n < longitudes.length; n++) {
    const [x, y] = pixelOf(longitudes[n], latitudes[n]);
    d += `${Math.abs(x - before) > UNIT ? "M" : "L"}${px(x)} ${px(y)}`;
    before = x;
  }
  return d;
}

/** Meridians and parallels. */
function graticule(): string {
  const line = (of: (step: number) => readonly [longitude: number, latitude: number], steps: number): string => {
    const points = Array.from({ length: steps + 1 }, (_, n) => of(n * FINE * DEGREE));
    return through(
      points.map(([longitude]) => longitude),
      points.map(([, latitude]) => latitude),
    );
  };
  // Both ends of a parallel stay on their side.
  const edge = 180 - 1e-6;
  const meridians = multiples(180).map((l) => line((s) => [l * DEGREE, s - Math.PI / 2], 180 / FINE));
  const parallels = multiples(90).map((b) =>
    line((s) => [Math.max(-edge * DEGREE, Math.min(edge * DEGREE, s - Math.PI)), b * DEGREE], 360 / FINE),
  );
  return svgElement("path", { class: "graticule", d: [...meridians, ...parallels].join(""), fill: "none", stroke: "#ccc" });
}

/** Multiples of the graticule's degrees between minus and plus `end`. */
const multiples = (end: number): number[] => Array.from({ length: (2 * end) / GRATICULE - 1 }, (_, n) => GRATICULE * (n + 1) - end);

/** Degrees beside the lines, and the names of the coordinates. */
function labels({ frame }: SphereMap): string {
  const middle = MARGIN.top + UNIT;
  const halo = { fill: "#333", stroke: "white", "stroke-width": 2, "stroke-opacity": 0.7, "paint-order": "stroke" };
  return [
    ...multiples(180).map((l) =>
      svgText(pixelOf(l * DEGREE, 0)[0], middle + 14, `${(l + 360) % 360}°`, { "text-anchor": "middle", ...halo }),
    ),
    ...multiples(90).map((b) => {
      const [x, y] = pixelOf((180 - 1e-6) * DEGREE, b * DEGREE);
      return svgText(x - 6, y + 4, `${b > 0 ? "+" : ""}${b}°`, { "text-anchor": "end", fill: "#333" });
    }),
    svgText(WIDTH / 2, MARGIN.top + 2 * UNIT + 22, `${frame.longitude} (${frame.name})`, { "text-anchor": "middle", fill: "#111" }),
    svgElement(
      "g",
      { transform: `translate(14 ${middle}) rotate(-90)` },
      svgText(0, 0, frame.latitude, { "text-anchor": "middle", fill: "#111" }),
    ),
  ].join("");
}

/** Bands of colour with their values, the names of curves, and how many points there are. */
function legend({ quantity, values, curves = [] }: SphereMap, { colours, at, band }: ColourScale, shown: string): string {
  const [left, top, width] = [MARGIN.left + UNIT, MARGIN.top + 2 * UNIT + 38, 2 * UNIT];
  const step = width / colours.length;
  const bars = colours.map((fill, n) => svgElement("rect", { x: left + n * step, y: top, width: step, height: 12, fill }));
  const without = Array.from(values).filter((value) => band(value) === colours.length).length;
  const ticks = Array.from({ length: without < values.length ? LEGEND_TICKS + 1 : 0 }, (_, n) =>
    svgText(left + (n / LEGEND_TICKS) * width, top + 27, String(Number(at(n / LEGEND_TICKS).toPrecision(3))), {
      "text-anchor": "middle",
      fill: "#111",
    }),
  );
  const notes = [shown, ...(without > 0 ? [`${without} without a value in grey`] : []), ...curves.map(({ name }) => `${name} dashed`)];
  return [
    svgElement("rect", { x: left, y: top, width, height: 12, fill: "none", stroke: "#666" }),
    ...bars,
    ...ticks,
    svgText(left + width / 2, top + 46, quantity, { "text-anchor": "middle", fill: "#111" }),
    svgText(left + width / 2, top + 64, notes.join("; "), { "text-anchor": "middle", fill: "#555", "font-size": 11 }),
  ].join("");
}
