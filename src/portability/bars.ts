import { scaleLinear, scaleLog } from "d3-scale";
import type { PlatformLook } from "./cascade.js";
import { decadeTicks } from "./roofline.js";
import { SERIES_COLOURS, drawing, escapeSvg, line, svgElement, svgText } from "./svg.js";

/** A bar: a value with its error, and both in words. */
export interface Bar {
  readonly application: string;
  readonly platform: string;
  readonly value: number;
  readonly sigma: number | null;
  readonly words: string;
}

/** Bars by platform, one for each application that ran there. */
export interface BarChart {
  readonly title: string;
  /** Values in words, with their unit. */
  readonly axis: string;
  readonly platforms: readonly string[];
  readonly applications: readonly string[];
  readonly bars: readonly Bar[];
  /** Least height of the axis. */
  readonly least?: number;
}

const WIDTH = 920;
const [LEFT, RIGHT, TOP, HEIGHT, FOOT] = [62, 12, 34, 170, 44];
/** Gap between groups and least width of a bar, in pixels. */
const [GAP, THIN] = [14, 5];
const WIDE = 26;
/** Ratio of values above which the axis is logarithmic. */
const FAR = 50;
/** Pixels of a letter in a label. */
const LETTER = 6.6;

/** Bars in groups, a group for each platform, as in figures 4 and 5 of Malenza et al., SC24-W. Many platforms go on in further rows. */
export function platformBars(chart: BarChart, colourOf: (application: string) => number, look: PlatformLook): string {
  const { title, platforms, applications, bars } = chart;
  const slot = applications.length * THIN + GAP;
  const perRow = Math.max(1, Math.min(platforms.length, Math.floor((WIDTH - LEFT - RIGHT) / slot)));
  const rows = Array.from({ length: Math.ceil(platforms.length / perRow) }, (_, r) => platforms.slice(r * perRow, (r + 1) * perRow));
  const scale = scaleOf(chart);
  const rise = TOP + HEIGHT + FOOT;
  return drawing(
    WIDTH,
    rows.length * rise,
    title,
    bars.map(({ words }) => words).join("; "),
    ...rows.map((row, r) =>
      svgElement("g", { transform: `translate(0,${r * rise})` }, ...panel(chart, { row, perRow, scale }, colourOf, look)),
    ),
  );
}

interface Scale {
  readonly y: (value: number) => number;
  readonly ticks: readonly number[];
  readonly logarithmic: boolean;
}

/** From 0 where values are near each other, else logarithmic. */
function scaleOf({ bars, least = 0 }: BarChart): Scale {
  const upper = Math.max(least, ...bars.map(({ value, sigma }) => value + (sigma ?? 0)));
  const values = bars.map(({ value }) => value).filter((value) => value > 0);
  const lowest = Math.min(...values);
  const range: [number, number] = [TOP + HEIGHT, TOP];
  if (least > 0 || upper / lowest <= FAR) {
    const y = scaleLinear([0, upper], range);
    return { y, ticks: y.ticks(5), logarithmic: false };
  }
  const domain: [number, number] = [lowest / 1.5, upper];
  return { y: scaleLog(domain, range).clamp(true), ticks: decadeTicks(...domain), logarithmic: true };
}

interface Panel {
  readonly row: readonly string[];
  readonly perRow: number;
  readonly scale: Scale;
}

function panel({ axis, platforms, applications, bars }: BarChart, { row, perRow, scale }: Panel, ...look: Looks): string[] {
  const { y, ticks, logarithmic } = scale;
  const [colourOf, platformLook] = look;
  const slot = (WIDTH - LEFT - RIGHT) / perRow;
  const width = Math.min(WIDE, (slot - GAP) / applications.length);
  const right = LEFT + slot * row.length;
  // Letters stand for all platforms where the name of one has no room.
  const named = platforms.every((platform) => platform.length * LETTER < slot - 4);
  const grid = ticks.map(
    (tick) =>
      line(LEFT, y(tick), right, y(tick), "grid") +
      svgText(LEFT - 8, y(tick) + 4, tickLabel(tick), { class: "tick", "text-anchor": "end" }),
  );
  const groups = row.map((platform, p) => {
    const middle = LEFT + (p + 0.5) * slot;
    const begin = middle - (width * applications.length) / 2;
    const own = applications.map((application, a) => {
      const bar = bars.find((one) => one.application === application && one.platform === platform);
      const left = begin + a * width;
      return bar ? drawn(bar, { left, width, y }, colourOf(application)) : absent(left + width / 2, `${application} on ${platform}`);
    });
    return own.join("") + platformLabel(platform, middle, named, platformLook);
  });
  const gaps = bars.length < platforms.length * applications.length ? "; × not measured" : "";
  return [svgText(4, 18, `${axis}${logarithmic ? ", logarithmic" : ""}${gaps}`, { class: "axis" }), ...grid, ...groups];
}

type Looks = [colourOf: (application: string) => number, look: PlatformLook];

function drawn(bar: Bar, { left, width, y }: { left: number; width: number; y: (value: number) => number }, colour: number): string {
  const top = y(bar.value);
  const kind = `bar s${colour % SERIES_COLOURS}${colour >= SERIES_COLOURS ? " pale" : ""}`;
  const middle = left + width / 2;
  const [high, low] = [y(bar.value + (bar.sigma ?? 0)), y(Math.max(0, bar.value - (bar.sigma ?? 0)))];
  return (
    svgElement(
      "rect",
      { x: left + 0.5, y: top, width: width - 1, height: Math.max(0.5, TOP + HEIGHT - top), class: kind },
      svgElement("title", {}, escapeSvg(bar.words)),
    ) + (low - high > 1 ? line(middle, high, middle, low, "whisker") : "")
  );
}

/** A mark in place of the bar of an application that does not run there. */
const absent = (middle: number, words: string): string =>
  svgText(middle, TOP + HEIGHT - 3, "×", { class: "absent", "text-anchor": "middle", "aria-label": `${words}: not measured` });

/** The platform's letter, and its name if there is room for all names. */
function platformLabel(platform: string, middle: number, named: boolean, { colourOf, letterOf }: PlatformLook): string {
  const top = TOP + HEIGHT + 8;
  return (
    svgElement("rect", { x: middle - 11, y: top, width: 22, height: 16, rx: 3, class: `tile s${colourOf(platform) % SERIES_COLOURS}` }) +
    svgText(middle, top + 12, letterOf(platform), { class: "letter", "text-anchor": "middle" }) +
    (named ? svgText(middle, top + 30, platform, { class: "tick", "text-anchor": "middle" }) : "")
  );
}

/** Plain where that is short. */
const tickLabel = (value: number): string =>
  value === 0 || (value >= 1e-3 && value < 1e6) ? String(Number(value.toPrecision(4))) : value.toExponential().replace("e+", "e");
