import type { SphereMap } from "isoform/draw";
import { escapeSvg, sphereMap } from "isoform/draw";
import { plot, type Curve } from "isoform/draw";
import type { Results } from "./report.js";
import { COS_OBLIQUITY, SIN_OBLIQUITY } from "./scanning/law.js";
import type { StarList } from "./scanning/stars.js";
import { directionOf } from "./scanning/stars.js";
import type { Convergence } from "./section-steps.js";
import { SECTION_NAMES } from "./section-steps.js";
import type { Shape } from "./shape.js";
import { ASTROMETRIC, sections } from "./shape.js";

/*
 * The report of a run as a page: errors on the sky, and how the sections of the unknowns converged.
 */

/** Parts of a run that the page shows. */
interface PageContent {
  readonly shape: Shape;
  readonly results: Pick<Results, "x" | "errors" | "label">;
  /** Columns' factors, 0 for unknowns that have left the system. */
  readonly scaling: ArrayLike<number>;
  readonly convergence: Convergence;
  /** Stars of the system, if their places are known. */
  readonly stars?: StarList;
  /** The solution that known terms with noise were made for. */
  readonly truth?: ArrayLike<number>;
  /** The report in words. */
  readonly text: string;
}

const TITLE = "Astrometric least squares";
const FRAME = { name: "ICRS", longitude: "right ascension", latitude: "declination" };
/** Points of the ecliptic that is drawn. */
const ECLIPTIC = 240;
/** Quantile of magnitudes that colours of both signs reach to: single stars lie beyond. */
const REACH = 0.98;

/** The report's page. */
export function reportPage(content: PageContent): string {
  const { stars, text, convergence } = content;
  const maps = stars ? mapsOf(content, stars).map(sphereMap) : [];
  if (convergence.points.length === 0) return figurePage(text, maps);
  return figurePage(text, [...maps, convergencePlot(content)], UNIT_TEXT);
}

/** A page of its own, without scripts: text, drawings below it, and a note. */
export function figurePage(text: string, figures: readonly string[], note = ""): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${TITLE}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${TITLE}</h1>
<pre>${escapeSvg(text)}</pre>
${figures.map((figure) => `<figure>${figure}</figure>`).join("\n")}
<p>${escapeSvg(note)}</p>
</body>
</html>
`;
}

const STYLE = [
  "body{margin:0 auto;max-width:960px;padding:1rem;font-family:system-ui,sans-serif;color:#111;background:#fff}",
  "pre{overflow-x:auto;font-size:.85rem}figure{margin:1.5rem 0;overflow-x:auto}figure svg{max-width:100%;height:auto}",
].join("");

const UNIT_TEXT =
  "Steps are in units of the standard error that an unknown would have if all others were known, 1 / the norm of its column. " +
  "Its standard error is greater, so in units of that the steps are smaller than drawn.";

/** Maps of the stars' errors, and of their deviations from the truth where that is known. */
function mapsOf({ shape, results: { x, errors, label }, truth }: PageContent, stars: StarList): SphereMap[] {
  const places = Array.from({ length: stars.count }, (_, s) => directionOf(stars, s));
  const frame = {
    frame: FRAME,
    longitudes: places.map(([alpha]) => alpha),
    latitudes: places.map(([, delta]) => delta),
    curves: [ecliptic()],
  };
  const ofStars = (value: (first: number) => number): number[] =>
    Array.from({ length: shape.stars }, (_, s) => (errors[ASTROMETRIC * s] > 0 ? value(ASTROMETRIC * s) : Number.NaN));
  const map = (title: string, quantity: string, values: number[], look: Pick<SphereMap, "log" | "reach">): SphereMap => ({
    title,
    quantity,
    values,
    ...frame,
    ...look,
  });
  const length = (of: ArrayLike<number>) => (j: number) => Math.sqrt((of[j] ** 2 + of[j + 1] ** 2) / 2);
  const all = [
    map("Errors of positions", `${label} root mean square of both coordinates, uas`, ofStars(length(errors)), { log: true }),
    map(
      "Errors of parallaxes",
      `${label} uas`,
      ofStars((j) => errors[j + 2]),
      { log: true },
    ),
  ];
  if (!truth) return all;
  const off = Float64Array.from(x, (value, j) => value - truth[j]);
  const parallaxes = ofStars((j) => off[j + 2]);
  return [
    ...all,
    map("Positions against the truth", "|x - truth|, root mean square of both coordinates, uas", ofStars(length(off)), { log: true }),
    map("Parallaxes against the truth", "x - truth, uas", parallaxes, { reach: quantile(parallaxes, REACH) }),
  ];
}

/** The ecliptic, about which the scanning law is symmetric. */
function ecliptic(): NonNullable<SphereMap["curves"]>[number] {
  const longitudes = Array.from({ length: ECLIPTIC + 1 }, (_, n) => (2 * Math.PI * n) / ECLIPTIC);
  return {
    name: "ecliptic",
    longitudes: longitudes.map((l) => Math.atan2(COS_OBLIQUITY * Math.sin(l), Math.cos(l))),
    latitudes: longitudes.map((l) => Math.asin(SIN_OBLIQUITY * Math.sin(l))),
  };
}

/** Magnitude that a fraction of the values stays below; 1 where there are none. */
function quantile(values: readonly number[], fraction: number): number {
  const sorted = values
    .filter((value) => !Number.isNaN(value))
    .map(Math.abs)
    .sort((a, b) => a - b);
  return sorted[Math.floor(fraction * (sorted.length - 1))] || 1;
}

/** Steps of the sections, and the gradient that ends the iteration. */
function convergencePlot({ shape, scaling, convergence: { points } }: PageContent): string {
  const { attitude, instrument, global, unknowns } = sections(shape);
  const bounds = [0, attitude, instrument, global, unknowns];
  const iterations = points.map(({ iteration }) => iteration);
  const steps = SECTION_NAMES.flatMap((name, n): Curve[] => {
    let count = 0;
    for (let j = bounds[n]; j < bounds[n + 1]; j++) if (scaling[j] > 0) count++;
    const y = points.map(({ squares }) => Math.sqrt(squares[n] / count));
    return count === 0 ? [] : [{ name, as: n % 2 === 0 ? "line" : "dashes", x: iterations, y }];
  });
  const axis = { label: "iteration", log: true };
  const gradient: Curve = { name: "|A^T r| / (|A| |r|)", as: "line", x: iterations, y: points.map((point) => point.gradient) };
  return plot("Convergence", [
    { title: "step by section", x: axis, y: { label: "root mean square, standard errors", log: true }, curves: steps },
    { title: "gradient", x: axis, y: { label: "relative to |A| |r|", log: true }, curves: [gradient] },
  ]);
}
