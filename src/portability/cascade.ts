import { scaleLinear } from "d3-scale";
import { line as path } from "d3-shape";
import type { Assessment } from "./schema.js";
import { SERIES_COLOURS, drawing, svgElement, errorBar, line, marker, svgText } from "./svg.js";
import { percentText } from "./tables.js";

type Score = Assessment["metrics"][number];

const WIDTH = 920;
const NAMES = 172;
const PLOT = 420;
const ROW = 22;
const TOP = 34;
const CURVES = 170;
const PHI = 150;
const VALUE = 120;
/** Room for "does not run"; a cross has its place where there is less. */
const ABSENT_WIDTH = 76;

/**
 * The efficiency cascade of Sewall, Pennycook, Jacobsen, Deakin and McIntosh-Smith (P3HPC 2020): each application's efficiencies in
 * falling order over the number of platforms; below, the platforms in that order, and Phi over the whole set. On one platform there is
 * no order, and the bars of Phi are all.
 */
export function cascade(scores: readonly Score[], seriesOf: Ordinal, look: PlatformLook): string {
  const [{ metric, set, setName, problem }] = scores;
  const rows = scores.toSorted((a, b) => b.value - a.value);
  const name = metric === "app" ? "Application efficiency" : "Architectural efficiency";
  const symbol = metric === "app" ? "Φ app" : "Φ arch";
  const description = rows.map((r) => `${r.application}: ${symbol} ${percentText(r.value, r.sigma)} percent`).join("; ");
  const curves = set.length > 1;
  // The list of platforms ends above the bars.
  const top = curves ? Math.max(TOP + CURVES + 52, TOP + set.length * ROW + 26) : 26;
  const barsLeft = curves ? NAMES + PLOT + 46 : NAMES;
  return drawing(
    curves ? WIDTH : barsLeft + PHI + VALUE,
    top + rows.length * ROW + 8,
    `${name} cascade of ${problem} on ${setName}`,
    description,
    ...(curves ? [curvesOf(rows, name, seriesOf), platformsOf(set, barsLeft, look), strips(rows, top, look)] : []),
    svgText(barsLeft, top - 12, `${symbol}, %`, { class: "axis" }),
    bars(rows, { left: barsLeft, top, width: PHI }, seriesOf),
    ...rows.map(
      (row, r) =>
        marker(14, top + r * ROW + 11, seriesOf(row.application), seriesOf(row.application), row.application) +
        svgText(28, top + r * ROW + 15, row.application, { class: "label" }),
    ),
  );
}

type Ordinal = (name: string) => number;

/** Appearance of platforms in all figures of a report. */
export interface PlatformLook {
  readonly colourOf: Ordinal;
  readonly letterOf: (platform: string) => string;
}

const position = (set: readonly string[], i: number) => NAMES + ((i + 0.5) * PLOT) / set.length;
const upper = (e: { value: number; sigma: number | null }) => e.value + (e.sigma ?? 0);
const falling = (score: Score) => score.efficiencies.toSorted((a, b) => b.value - a.value);

function curvesOf(rows: readonly Score[], name: string, seriesOf: Ordinal): string {
  const { set } = rows[0];
  const bottom = TOP + CURVES;
  const y = scaleLinear([0, Math.max(1, ...rows.flatMap((row) => row.efficiencies.map(upper)))], [bottom, TOP]);
  const grid = y
    .ticks(5)
    .map(
      (e) =>
        line(NAMES, y(e), NAMES + PLOT, y(e), "grid") +
        svgText(NAMES - 10, y(e) + 4, `${Math.round(100 * e)}`, { class: "tick", "text-anchor": "end" }),
    );
  const counts = set.map((_, i) => svgText(position(set, i), bottom + 18, String(i + 1), { class: "tick", "text-anchor": "middle" }));
  const curves = rows.toReversed().map((row) => {
    const series = seriesOf(row.application);
    // A curve ends with the platforms that the application runs on.
    const points = falling(row)
      .filter(({ value }) => value > 0)
      .map((e, i) => ({ ...e, x: position(set, i) }));
    return (
      svgElement("path", {
        d: path()(points.map((p): [number, number] => [p.x, y(p.value)]))!,
        class: `curve s${series % SERIES_COLOURS}`,
      }) +
      points
        .map(
          (p) =>
            errorBar(p.x, y(Math.max(0, p.value - (p.sigma ?? 0))), y(upper(p)), series) +
            marker(p.x, y(p.value), series, series, `${row.application} on ${p.platform}: ${percentText(p.value, p.sigma)} %`),
        )
        .join("")
    );
  });
  return [
    svgText(NAMES - 10, 16, `${name}, %`, { class: "axis" }),
    ...grid,
    ...counts,
    svgText(NAMES + PLOT / 2, bottom + 36, "number of platforms, each application's best first", {
      class: "axis",
      "text-anchor": "middle",
    }),
    ...curves,
  ].join("");
}

function platformsOf(set: readonly string[], left: number, { colourOf, letterOf }: PlatformLook): string {
  return (
    svgText(left, 16, "Platforms", { class: "axis" }) +
    set
      .map(
        (platform, i) =>
          svgElement("rect", {
            x: left,
            y: TOP + i * ROW,
            width: 22,
            height: 16,
            rx: 3,
            class: `tile s${colourOf(platform) % SERIES_COLOURS}`,
          }) +
          svgText(left + 11, TOP + i * ROW + 12, letterOf(platform), { class: "letter", "text-anchor": "middle" }) +
          svgText(left + 32, TOP + i * ROW + 12, platform, { class: "label" }),
      )
      .join("")
  );
}

/** For each application the letters of its platforms, best first. */
function strips(rows: readonly Score[], top: number, { colourOf, letterOf }: PlatformLook): string {
  const { set } = rows[0];
  const band = PLOT / set.length;
  return rows
    .map((row, r) =>
      falling(row)
        .map((e, i) => {
          const y = top + r * ROW;
          return e.value === 0
            ? svgText(position(set, i), y + 14, band < ABSENT_WIDTH ? "×" : "does not run", { class: "absent", "text-anchor": "middle" })
            : svgElement("rect", {
                x: NAMES + i * band + 3,
                y: y + 2,
                width: band - 6,
                height: ROW - 5,
                rx: 3,
                class: `tile s${colourOf(e.platform) % SERIES_COLOURS}`,
              }) + svgText(position(set, i), y + 15, letterOf(e.platform), { class: "letter", "text-anchor": "middle" });
        })
        .join(""),
    )
    .join("");
}

function bars(rows: readonly Score[], at: { left: number; top: number; width: number }, seriesOf: Ordinal): string {
  const x = scaleLinear([0, Math.max(1, ...rows.map(upper))], [at.left, at.left + at.width]);
  return rows
    .map((row, r) => {
      const y = at.top + r * ROW;
      const sigma = row.sigma ?? 0;
      const middle = y + ROW / 2 - 0.5;
      const [low, high] = [x(Math.max(0, row.value - sigma)), x(row.value + sigma)];
      return (
        svgElement("rect", {
          x: at.left,
          y: y + 3,
          width: x(row.value) - at.left,
          height: ROW - 7,
          rx: 2,
          class: `bar s${seriesOf(row.application) % SERIES_COLOURS}`,
        }) +
        (high - low > 1 ? line(low, middle, high, middle, "whisker") : "") +
        svgText(at.left + at.width + 8, y + 15, percentText(row.value, row.sigma), { class: "value" })
      );
    })
    .join("");
}
