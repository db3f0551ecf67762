import { scaleLinear } from "d3-scale";
import type { Divergence } from "./divergence.js";
import type { Assessment } from "./schema.js";
import { drawing, errorBar, line, marker, svgElement, svgText } from "./svg.js";
import { percentText } from "./tables.js";

type Score = Assessment["metrics"][number];

/** A point of the chart that is to be reached: its corner up to (1, 1) is shaded. */
export interface Goal {
  readonly convergence: number;
  readonly phi: number;
}

const WIDTH = 460;
const HEIGHT = 420;
const BOX = { left: 56, right: WIDTH - 18, top: 30, bottom: HEIGHT - 46 };
const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1] as const;
/** Distance of labels, in pixels. */
const LABEL = 14;

interface Point {
  readonly score: Score;
  readonly convergence: number;
  readonly x: number;
  readonly y: number;
}

/**
 * The navigation chart of Pennycook, Sewall, Jacobsen, Deakin and McIntosh-Smith (CiSE 2021): Phi over code convergence, a point for each application.
 * Applications whose convergence is unknown are left out; undefined if no convergence is known.
 */
export function navigationChart(
  scores: readonly Score[],
  divergences: readonly Divergence[],
  seriesOf: (application: string) => number,
  goal?: Goal,
): string | undefined {
  const x = scaleLinear([0, 1], [BOX.left, BOX.right]);
  // A kernel in a cache can pass the memory's roof, and so can errors.
  const y = scaleLinear([0, Math.max(1, ...scores.map(({ value, sigma }) => value + (sigma ?? 0)))], [BOX.bottom, BOX.top]);
  const points = scores.flatMap((score): Point[] => {
    const known = divergences.find(
      (one) => one.application === score.application && one.problem === score.problem && one.setName === score.setName,
    );
    return known ? [{ score, convergence: known.convergence, x: x(known.convergence), y: y(score.value) }] : [];
  });
  if (points.length === 0) return undefined;
  const [{ score }] = points;
  const symbol = score.metric === "app" ? `Φ app (${score.yardstick ?? "set"})` : "Φ arch";
  const words = ({ score: { application, value, sigma }, convergence }: Point) =>
    `${application}: convergence ${convergence.toFixed(2)}, ${symbol} ${percentText(value, sigma)} %`;
  const grid = TICKS.map(
    (tick) =>
      line(x(tick), BOX.top, x(tick), BOX.bottom, "grid") +
      line(BOX.left, y(tick), BOX.right, y(tick), "grid") +
      svgText(x(tick), BOX.bottom + 16, String(tick), { class: "tick", "text-anchor": "middle" }) +
      svgText(BOX.left - 8, y(tick) + 4, String(tick), { class: "tick", "text-anchor": "end" }),
  );
  const markers = points.map((point) => {
    const { value, sigma, application } = point.score;
    const series = seriesOf(application);
    const spread = sigma ? errorBar(point.x, y(Math.max(0, value - sigma)), y(value + sigma), series) : "";
    return spread + marker(point.x, point.y, series, series, words(point));
  });
  return drawing(
    WIDTH,
    HEIGHT,
    `Navigation chart of ${score.problem} on ${score.setName}`,
    points.map(words).join("; "),
    svgText(4, 16, symbol, { class: "axis" }),
    svgText(BOX.right, HEIGHT - 8, "code convergence", { class: "axis", "text-anchor": "end" }),
    goal ? goalCorner(goal, x, y) : "",
    ...grid,
    ...labelsOf(points, seriesOf),
    ...markers,
  );
}

function goalCorner({ convergence, phi }: Goal, x: (value: number) => number, y: (value: number) => number): string {
  return (
    svgElement("rect", { x: x(convergence), y: y(1), width: x(1) - x(convergence), height: y(phi) - y(1), class: "goal" }) +
    svgText(x(1), y(1) - 6, `goal ${convergence}, ${phi}`, { class: "note", "text-anchor": "end" })
  );
}

/** Names beside the points, each with its marker, moved apart where they would overlap. */
function labelsOf(points: readonly Point[], seriesOf: (application: string) => number): string[] {
  const middle = (BOX.left + BOX.right) / 2;
  const side = (isLeft: boolean) => points.filter(({ x }) => x < middle === isLeft).sort((a, b) => a.y - b.y);
  return [side(true), side(false)].flatMap((column) => {
    // From the bottom up, so that the last stays within the box.
    let lowest = BOX.bottom - 5;
    return column.toReversed().map(({ x, y, score: { application } }) => {
      const at = Math.min(y + 4, lowest);
      lowest = at - LABEL;
      const [sign, anchor] = x < middle ? [1, "start"] : [-1, "end"];
      const series = seriesOf(application);
      return (
        marker(x + sign * 14, at - 4, series, series, application, 24) +
        svgText(x + sign * 22, at, application, { class: "note", "text-anchor": anchor })
      );
    });
  });
}
