import { scaleLog } from "d3-scale";
import { drawingFile } from "../../draw/svg.js";
import { svgElement, errorBar, line, marker, svgText } from "../svg.js";
import { secondsText } from "../tables.js";
import type { Mode } from "./request.js";
import type { Findings } from "./study.js";
import { modesOf } from "./tell.js";

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [460, 360, 74, 18, 64, 46];
const STYLE = `
svg{background:#fff}text{font:12px system-ui,sans-serif;fill:#16202c}.tick,.axis{fill:#5b6776}.title{font-size:15px;font-weight:600}.panel{font-weight:600}
.grid{stroke:#e4e8ee}.s0{--c:#2563eb}.s1{--c:#d97706}.curve{fill:none;stroke:#2563eb;stroke-width:2}.ideal{stroke:#5b6776;stroke-dasharray:4 4;fill:none}
.band{fill:#2563eb;fill-opacity:.16}.marker{fill:var(--c);stroke:#fff;stroke-width:1}.error{stroke:var(--c);stroke-width:1.6}`;
/** Series: predicted and measured. */
const [PREDICTED, MEASURED] = [0, 1];

/** Seconds of an iteration over ranks, both logarithmic: predictions with their band, measurements with their range. A panel for each mode. */
export function scalingChart(found: Findings): string {
  const modes = modesOf(found);
  const { application } = found.forecast.request;
  return drawingFile(
    WIDTH * modes.length,
    HEIGHT,
    `Scaling of ${application}`,
    `${found.compared.length} points measured, ${found.extrapolated.length} predicted only`,
    STYLE,
    svgText(16, 22, `${application}: seconds of an iteration, predicted before they were measured`, { class: "title" }),
    ...legend(),
    ...modes.map((mode, n) => svgElement("g", { transform: `translate(${n * WIDTH},0)` }, ...panel(found, mode))),
  );
}

function legend(): string[] {
  const at = (n: number): number => LEFT + n * 118;
  return [
    line(at(0) - 10, 41, at(0) + 10, 41, "curve"),
    marker(at(0), 41, PREDICTED, PREDICTED, "predicted"),
    svgText(at(0) + 14, 45, "predicted"),
    svgElement("rect", { x: at(1) - 10, y: 34, width: 20, height: 14, class: "band" }),
    svgText(at(1) + 14, 45, "band"),
    errorBar(at(2), 33, 49, MEASURED),
    marker(at(2), 41, MEASURED, MEASURED, "measured"),
    svgText(at(2) + 14, 45, "measured"),
    line(at(3) - 10, 41, at(3) + 10, 41, "ideal"),
    svgText(at(3) + 14, 45, "ideal"),
  ];
}

function panel({ forecast, compared, extrapolated }: Findings, mode: Mode): string[] {
  const isOfMode = (point: { readonly mode: Mode }): boolean => point.mode === mode;
  const own = compared.filter(isOfMode);
  const banded = extrapolated.filter(isOfMode);
  const predicted = [...forecast.points.filter(isOfMode), ...forecast.extrapolated.filter(isOfMode)].sort((a, b) => a.ranks - b.ranks);
  if (predicted.length === 0) return [svgText(LEFT, TOP + 20, `${mode} scaling: nothing could be predicted`)];
  const [first] = predicted;
  const ideal = (ranks: number): number => (mode === "strong" ? (first.seconds * first.ranks) / ranks : first.seconds);
  const ranks = predicted.map((point) => point.ranks);
  const [fewest, most] = [Math.min(...ranks), Math.max(...ranks)];
  const times = [
    ...predicted.map(({ seconds }) => seconds),
    ...own.flatMap(({ least, most: longest }) => [least, longest]),
    ...banded.flatMap(({ low, high }) => [low, high]),
    ideal(most),
  ];
  const x = scaleLog([fewest / 1.3, most * 1.3], [LEFT, WIDTH - RIGHT]);
  const y = scaleLog([Math.min(...times) / 1.3, Math.max(...times) * 1.3], [HEIGHT - BOTTOM, TOP + 22]);
  const path = (points: readonly (readonly [number, number])[]): string =>
    `M${points.map(([a, b]) => `${x(a).toFixed(2)},${y(b).toFixed(2)}`).join("L")}`;
  const area = [...banded.map((p) => [p.ranks, p.high] as const), ...banded.toReversed().map((p) => [p.ranks, p.low] as const)];
  return [
    svgText(
      LEFT,
      TOP + 8,
      `${mode} scaling: ${mode === "strong" ? "one box" : "a box for each rank"}, ${first.extents.join(" x ")} on ${first.ranks}`,
      {
        class: "panel",
      },
    ),
    ...axes(x, y, [...new Set(ranks)]),
    ...(banded.length > 1 ? [svgElement("path", { d: `${path(area)}Z`, class: "band" })] : []),
    svgElement("path", { d: path([fewest, most].map((count) => [count, ideal(count)])), class: "ideal" }),
    svgElement("path", { d: path(predicted.map(({ ranks: count, seconds }) => [count, seconds])), class: "curve" }),
    ...predicted.map(({ ranks: count, seconds }) =>
      marker(x(count), y(seconds), PREDICTED, PREDICTED, `${count} ranks: predicted ${secondsText(seconds, NaN)}`),
    ),
    ...own.flatMap(({ ranks: count, measured, least, most: longest }) => [
      errorBar(x(count), y(least), y(longest), MEASURED),
      marker(x(count), y(measured), MEASURED, MEASURED, `${count} ranks: measured ${secondsText(measured, NaN)}`),
    ]),
  ];
}

type Scale = (value: number) => number;

function axes(x: Scale, y: Scale & { ticks(count?: number): number[] }, ranks: readonly number[]): string[] {
  const bottom = HEIGHT - BOTTOM;
  const all = y.ticks(5);
  // A decade has ten ticks; where there are several, powers of ten and 2 and 5 times them are enough.
  const few = all.length <= 8 ? all : all.filter((value) => [1, 2, 5].includes(Number(value.toExponential(0)[0])));
  return [
    ...ranks.flatMap((count) => [
      line(x(count), TOP + 22, x(count), bottom, "grid"),
      svgText(x(count), bottom + 16, `${count}`, { class: "tick", "text-anchor": "middle" }),
    ]),
    ...few.flatMap((value) => [
      line(LEFT, y(value), WIDTH - RIGHT, y(value), "grid"),
      svgText(LEFT - 6, y(value) + 4, tickText(value), { class: "tick", "text-anchor": "end" }),
    ]),
    svgText(WIDTH - RIGHT, HEIGHT - 10, "ranks", { class: "axis", "text-anchor": "end" }),
    svgText(LEFT - 58, TOP + 8, "seconds", { class: "axis" }),
  ];
}

/** `50 ms` */
function tickText(seconds: number): string {
  const [unit, factor] = seconds >= 1 ? ["s", 1] : seconds >= 1e-3 ? ["ms", 1e3] : ["µs", 1e6];
  return `${Number((seconds * factor).toPrecision(2))} ${unit}`;
}
