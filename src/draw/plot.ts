import { scaleLinear, scaleLog } from "d3-scale";
import { escapeSvg } from "./svg.js";

/** Values over x, as a line or as points. */
export interface Curve {
  readonly name: string;
  readonly as: "line" | "dashes" | "points";
  readonly x: ArrayLike<number>;
  readonly y: ArrayLike<number>;
}

interface PlotAxis {
  /** Quantity and unit. */
  readonly label: string;
  /** Logarithmic: only values above 0 are drawn. */
  readonly log?: boolean;
  /** Bounds. Default: the curves' own. */
  readonly from?: number;
  readonly to?: number;
}

/** One pair of axes. */
export interface Panel {
  readonly title: string;
  readonly x: PlotAxis;
  readonly y: PlotAxis;
  readonly curves: readonly Curve[];
}

/** Colours of Okabe and Ito, which colour-blind people tell apart, too. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"];
const [WIDTH, HEIGHT, MARGIN, TITLE] = [430, 300, { left: 76, right: 18, top: 30, bottom: 48 }, 34];
const LEGEND_ROW = 17;
const DECADES_WITH_LINES = 6;

/** An SVG file: panels beside each other, each with axes, their labels and a legend below. */
export function plot(title: string, panels: readonly Panel[]): string {
  const rows = Math.max(...panels.map(({ curves }) => Math.ceil(curves.length / 2)));
  const [width, height] = [WIDTH * panels.length, TITLE + HEIGHT + rows * LEGEND_ROW + 16];
  const drawn = panels.map((panel, n) => `<g transform="translate(${n * WIDTH} ${TITLE})">${drawPanel(panel, n)}</g>`);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeSvg(title)}" font-family="sans-serif" font-size="12">` +
    `<style>.grid{stroke:#e4e4e4}.frame{stroke:#555;fill:none}.curve{stroke-width:2;fill:none}</style><rect width="100%" height="100%" fill="white"/>` +
    `<text x="${MARGIN.left}" y="22" font-size="15">${escapeSvg(title)}</text>${drawn.join("")}</svg>\n`
  );
}

function drawPanel({ title, x, y, curves }: Panel, panel: number): string {
  const [left, right, top, bottom] = [MARGIN.left, WIDTH - MARGIN.right, MARGIN.top, HEIGHT - MARGIN.bottom];
  const seen = curves.map(({ x: xs, y: ys }) =>
    Array.from(xs, (value, n) => [value, ys[n]] as const).filter(([a, b]) => isShown(a, x) && isShown(b, y)),
  );
  const points = seen.flat();
  const [across, up] = [
    scaleOf(
      x,
      points.map(([a]) => a),
      [left, right],
    ),
    scaleOf(
      y,
      points.map(([, b]) => b),
      [bottom, top],
    ),
  ];
  const text = (at: string, content: string): string => `<text ${at}>${escapeSvg(content)}</text>`;
  const px = (value: number): string => value.toFixed(1);
  const vertical = ticksOf(x, across).map(
    ({ at, name }) =>
      `<path class="grid" d="M${px(across(at))} ${top}V${bottom}"/>${text(`x="${px(across(at))}" y="${bottom + 16}" text-anchor="middle"`, name)}`,
  );
  const horizontal = ticksOf(y, up).map(
    ({ at, name }) =>
      `<path class="grid" d="M${left} ${px(up(at))}H${right}"/>${text(`x="${left - 6}" y="${px(up(at))}" dy="4" text-anchor="end"`, name)}`,
  );
  const clip = `panel-${panel}`;
  const drawn = curves.map(({ as }, n) => {
    const places = seen[n].map(([a, b]) => [px(across(a)), px(up(b))] as const);
    if (places.length === 0) return "";
    return as === "points"
      ? places.map(([a, b]) => dot(a, b, COLOURS[n % COLOURS.length])).join("")
      : path(`M${places.map((place) => place.join(" ")).join("L")}`, as, COLOURS[n % COLOURS.length]);
  });
  const legend = curves.map(({ name, as }, n) => {
    const [column, row] = [left + ((right - left) / 2) * (n % 2), HEIGHT + LEGEND_ROW * (Math.floor(n / 2) + 1)];
    const colour = COLOURS[n % COLOURS.length];
    const sample = as === "points" ? dot(String(column + 12), String(row - 4), colour) : path(`M${column} ${row - 4}h24`, as, colour);
    return sample + text(`x="${column + 30}" y="${row}"`, name);
  });
  return (
    text(`x="${(left + right) / 2}" y="${top - 10}" text-anchor="middle" font-weight="bold"`, title) +
    [...vertical, ...horizontal].join("") +
    `<clipPath id="${clip}"><rect x="${left}" y="${top}" width="${right - left}" height="${bottom - top}"/></clipPath>` +
    `<g clip-path="url(#${clip})">${drawn.join("")}</g><path class="frame" d="M${left} ${top}H${right}V${bottom}H${left}z"/>` +
    text(`x="${(left + right) / 2}" y="${bottom + 36}" text-anchor="middle"`, x.label) +
    text(`transform="translate(16 ${(top + bottom) / 2}) rotate(-90)" text-anchor="middle"`, y.label) +
    legend.join("")
  );
}

const isShown = (value: number, { log }: PlotAxis): boolean => Number.isFinite(value) && (!log || value > 0);
const dot = (x: string, y: string, colour: string): string =>
  `<circle cx="${x}" cy="${y}" r="3.5" fill="white" stroke="${colour}" stroke-width="1.6"/>`;
const path = (d: string, as: "line" | "dashes", colour: string): string =>
  `<path class="curve" stroke="${colour}"${as === "dashes" ? ' stroke-dasharray="6 4"' : ""} d="${d}"/>`;

type Scale = ReturnType<typeof scaleLinear<number, number>> | ReturnType<typeof scaleLog<number, number>>;

function scaleOf({ log, from, to }: PlotAxis, values: readonly number[], range: readonly [number, number]): Scale {
  const least = from ?? values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = to ?? values.reduce((a, b) => Math.max(a, b), -Infinity);
  const [a, b] = Number.isFinite(most - least) ? [least, most] : log ? [1, 10] : [0, 1];
  const domain = a < b ? [a, b] : log ? [a / 10, b * 10] : [a - 1, b + 1];
  const scale = (log ? scaleLog() : scaleLinear()).domain(domain).range(range);
  // Round ends, where none are given.
  return from === undefined && to === undefined ? scale.nice() : scale;
}

/** Lines of the grid, with a name where there is room for one. */
function ticksOf({ log }: PlotAxis, scale: Scale): { at: number; name: string }[] {
  if (!log) return scale.ticks(6).map((at) => ({ at, name: String(Number(at.toPrecision(6))) }));
  const [a, b] = scale.domain().map(Math.log10);
  const step = Math.max(1, Math.ceil((b - a) / 8));
  const multiples = b - a <= DECADES_WITH_LINES ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1];
  const decades = Array.from({ length: Math.floor(b) - Math.floor(a) + 1 }, (_, n) => Math.floor(a) + n);
  return decades.flatMap((decade) =>
    multiples
      .map((n) => ({ at: n * 10 ** decade, name: n === 1 && decade % step === 0 ? powerOf10(decade) : "" }))
      .filter(({ at }) => Math.log10(at) >= a - 1e-9 && Math.log10(at) <= b + 1e-9),
  );
}

const powerOf10 = (decade: number): string => (Math.abs(decade) <= 3 ? String(Number((10 ** decade).toPrecision(3))) : `1e${decade}`);
