import { scaleLinear } from "d3-scale";
import { line as path } from "d3-shape";
import type { Assessment } from "./schema.js";
import { COLOURS, drawing, element, errorBar, line, marker, text } from "./svg.js";
import { percentText } from "./tables.js";

type Score = Assessment["metrics"][number];

const WIDTH = 920;
const NAMES = 172;
const PLOT = 420;
const ROW = 22;
const TOP = 34;
const CURVES = 250;
const PHI = 150;

/**
 * The efficiency cascade of Sewall, Pennycook, Jacobsen, Deakin and McIntosh-Smith (P3HPC 2020): each application's efficiencies in
 * falling order over the number of platforms; below, the platforms in that order, and Phi over the whole set.
 */
export function cascade(scores: readonly Score[], seriesOf: (application: string) => number): string {
  const [{ metric, set, setName, problem }] = scores;
  const rows = scores.toSorted((a, b) => b.value - a.value);
  const name = metric === "app" ? "Application efficiency" : "Architectural efficiency";
  const left = NAMES;
  const bottom = TOP + CURVES;
  const greatest = Math.max(1, ...rows.flatMap((row) => row.efficiencies.map((e) => e.value)));
  const y = scaleLinear([0, greatest], [bottom, TOP]);
  const band = PLOT / set.length;
  const x = (position: number) => left + (position + 0.5) * band;
  const letter = (platform: string) => String.fromCharCode(65 + set.indexOf(platform));

  const grid = [0, 0.25, 0.5, 0.75, 1].map((e) =>
    line(left, y(e), left + PLOT, y(e), "grid") + text(left - 10, y(e) + 4, `${100 * e}`, { class: "tick", "text-anchor": "end" }));
  const counts = set.map((_, i) => text(x(i), bottom + 18, String(i + 1), { class: "tick", "text-anchor": "middle" }));
  const curves = rows.toReversed().map((row) => {
    const series = seriesOf(row.application);
    const steps = falling(row);
    const points = steps.map((e, i): [number, number] => [x(i), y(e.value)]);
    return (
      element("path", { d: path()(points)!, class: `curve s${series % COLOURS}` }) +
      steps.map((e, i) => errorBar(x(i), y(e.value - (e.sigma ?? 0)), y(e.value + (e.sigma ?? 0)), series)).join("") +
      steps.map((e, i) => marker(x(i), y(e.value), series, series, `${row.application} on ${e.platform}: ${percentText(e.value, e.sigma)} %`)).join("")
    );
  });

  const legendLeft = left + PLOT + 46;
  const legend = set.map((platform, i) =>
    element("rect", { x: legendLeft, y: TOP + i * ROW, width: 22, height: 16, rx: 3, class: `tile s${i % COLOURS}` }) +
    text(legendLeft + 11, TOP + i * ROW + 12, letter(platform), { class: "letter", "text-anchor": "middle" }) +
    text(legendLeft + 32, TOP + i * ROW + 12, platform, { class: "label" }));

  const stripTop = bottom + 52;
  const phi = scaleLinear([0, Math.max(1, ...rows.map((r) => r.value))], [legendLeft, legendLeft + PHI]);
  const strips = rows.map((row, r) => {
    const top = stripTop + r * ROW;
    const series = seriesOf(row.application);
    const tiles = falling(row).map((e, i) => e.value === 0
      ? text(x(i), top + 14, "does not run", { class: "absent", "text-anchor": "middle" })
      : element("rect", { x: left + i * band + 3, y: top + 2, width: band - 6, height: ROW - 5, rx: 3, class: `tile s${set.indexOf(e.platform) % COLOURS}` }) +
        text(x(i), top + 15, letter(e.platform), { class: "letter", "text-anchor": "middle" }));
    const sigma = row.sigma ?? 0;
    const middle = top + ROW / 2 - 0.5;
    const whisker = phi(row.value + sigma) - phi(row.value - sigma) > 1
      ? line(phi(row.value - sigma), middle, phi(row.value + sigma), middle, "whisker") : "";
    return (
      marker(14, top + 11, series, series, row.application) +
      text(28, top + 15, row.application, { class: "label" }) +
      tiles.join("") +
      element("rect", { x: legendLeft, y: top + 3, width: phi(row.value) - legendLeft, height: ROW - 7, rx: 2, class: `bar s${series % COLOURS}` }) +
      whisker +
      text(legendLeft + PHI + 8, top + 15, percentText(row.value, row.sigma), { class: "value" })
    );
  });

  const symbol = metric === "app" ? "Φ app" : "Φ arch";
  const description = rows.map((r) => `${r.application}: ${symbol} ${percentText(r.value, r.sigma)} percent`).join("; ");
  return drawing(
    WIDTH, stripTop + rows.length * ROW + 8, `${name} cascade of ${problem} on ${setName}`, description,
    text(left - 10, 16, `${name}, %`, { class: "axis" }),
    text(legendLeft, 16, "Platforms", { class: "axis" }),
    ...grid, ...counts,
    text(left + PLOT / 2, bottom + 36, "number of platforms, each application's best first", { class: "axis", "text-anchor": "middle" }),
    text(legendLeft, bottom + 36, `${symbol}, %`, { class: "axis" }),
    ...curves, ...legend, ...strips,
  );
}

function falling(score: Score): Score["efficiencies"] {
  return score.efficiencies.toSorted((a, b) => b.value - a.value);
}

