import { scaleLinear } from "d3-scale";
import { EVEN_COLOURS, NO_VALUE, SIGNED_COLOURS } from "./colours.js";
import { escapeSvg } from "./svg.js";

/** A picture of one value for each cell of a rectangle. */
export interface HeatMap {
  readonly title: string;
  /** Name of the quantity, such as `speed / lid speed`. */
  readonly quantity: string;
  readonly width: number;
  readonly height: number;
  /** Row by row, the lowest first. NaN is drawn in grey. */
  readonly values: ArrayLike<number>;
  /** Labels and ranges of both sides, where they are drawn as axes. */
  readonly axes?: { readonly x: HeatMapAxis; readonly y: HeatMapAxis };
  /** For values of both signs: from blue over white to red, from minus to plus this value. Beyond it colours stay the same. */
  readonly reach?: number;
}

interface HeatMapAxis {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

const PIXELS = 640;
const MARGIN = 12;
const LEGEND = 56;

/** The picture as an SVG file: bands of colour between the least and the greatest value, with a legend. */
export function heatMap({ title, quantity, width, height, values, axes, reach }: HeatMap): string {
  const colours = reach === undefined ? EVEN_COLOURS : SIGNED_COLOURS;
  const known = Array.from(values).filter((v) => !Number.isNaN(v));
  const least = reach === undefined ? known.reduce((a, b) => Math.min(a, b), Infinity) : -reach;
  const span = reach === undefined ? known.reduce((a, b) => Math.max(a, b), -Infinity) - least || 1 : 2 * reach;
  const band = (v: number): number =>
    Number.isNaN(v) ? colours.length : Math.max(0, Math.min(colours.length - 1, Math.floor(((v - least) / span) * colours.length)));

  const paths = Array.from({ length: colours.length + 1 }, () => [] as string[]);
  for (let y = 0; y < height; y++)
    for (let x = 0, end = 0; x < width; x = end) {
      const colour = band(values[y * width + x]);
      for (end = x + 1; end < width && band(values[y * width + end]) === colour;) end++;
      paths[colour].push(`M${x} ${height - 1 - y}h${end - x}v1h${x - end}z`);
    }

  const scale = PIXELS / Math.max(width, height);
  const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
  const fills = paths.map((runs, n) => (runs.length ? `<path fill="${colours[n] ?? NO_VALUE}" d="${runs.join("")}"/>` : "")).join("");
  const step = w / colours.length;
  const legend = colours
    .map((fill, n) => `<rect x="${(n * step).toFixed(1)}" width="${step.toFixed(1)}" height="12" fill="${fill}"/>`)
    .join("");
  const text = (x: number, anchor: string, content: string) => `<text x="${x}" y="28" text-anchor="${anchor}">${escapeSvg(content)}</text>`;
  const [left, below] = axes ? [AXIS_LEFT, AXIS_BELOW] : [MARGIN, MARGIN];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + w + MARGIN} ${MARGIN + h + below + LEGEND}" role="img" font-family="sans-serif" font-size="13">` +
    `<title>${escapeSvg(title)}</title><rect width="100%" height="100%" fill="white"/>` +
    `<g transform="translate(${left} ${MARGIN}) scale(${scale})" shape-rendering="crispEdges" stroke="none">${fills}</g>` +
    (axes ? `<g transform="translate(${left} ${MARGIN})">${axesOf(axes, w, h)}</g>` : "") +
    `<g transform="translate(${left} ${MARGIN + h + below})">${legend}` +
    text(0, "start", least.toPrecision(3)) +
    text(w / 2, "middle", `${title}: ${quantity}`) +
    text(w, "end", (least + span).toPrecision(3)) +
    `</g></svg>\n`
  );
}

const [AXIS_LEFT, AXIS_BELOW] = [62, 52];

/** A frame with ticks, their values and what they mean. */
function axesOf({ x, y }: Required<HeatMap>["axes"], w: number, h: number): string {
  const [across, up] = [scaleLinear([x.from, x.to], [0, w]), scaleLinear([y.from, y.to], [h, 0])];
  const shown = (value: number): string => String(Number(value.toPrecision(6)));
  const label = (at: string, content: string): string => `<text ${at}>${escapeSvg(content)}</text>`;
  const columns = across.ticks(Math.max(2, Math.min(8, w / 60)));
  const rows = up.ticks(Math.max(1, Math.min(6, h / 30)));
  const marks = [...columns.map((value) => `M${across(value).toFixed(1)} ${h}v5`), ...rows.map((value) => `M0 ${up(value).toFixed(1)}h-5`)];
  return (
    `<path fill="none" stroke="#555" d="M0 0H${w}V${h}H0z${marks.join("")}"/>` +
    columns.map((value) => label(`x="${across(value).toFixed(1)}" y="${h + 18}" text-anchor="middle"`, shown(value))).join("") +
    rows.map((value) => label(`x="-8" y="${up(value).toFixed(1)}" dy="4" text-anchor="end"`, shown(value))).join("") +
    label(`x="${w / 2}" y="${h + 38}" text-anchor="middle"`, x.label) +
    label(`transform="translate(-46 ${h / 2}) rotate(-90)" text-anchor="middle"`, y.label)
  );
}

/** Axes that count cells. */
export const cellAxes = (width: number, height: number): Required<HeatMap>["axes"] => ({
  x: { label: "x, in cells", from: 0, to: width },
  y: { label: "y, in cells", from: 0, to: height },
});
