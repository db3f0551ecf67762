import type { Curve } from "./judgement.js";
import type { Series } from "./fits.js";

const POINTS = 100;
/** Colours of the simulated amplitude, the fit and the expected rate. */
const COLOURS = "#0072b2, #d55e00, #009e73";
/** Decades below the fit down to which values are shown: an amplitude that swings goes through zero. */
const BELOW = 1;

/**
 * A plot of rates as text, a block of Mermaid's `xychart-beta` in Markdown: the decimal logarithm of a series, of its fits and of the expected
 * rates. Where curves of one kind follow each other, the greater one counts. Curves come in pairs of fit and expectation.
 */
export function ratePlot(title: string, series: Series, curves: readonly Curve[]): string {
  const fits = curves.filter((_, n) => n % 2 === 0);
  const expected = curves.filter((_, n) => n % 2 === 1);
  const [from, to] = rangeOf(series.times, curves);
  const at = Array.from({ length: POINTS + 1 }, (_, n) => from + ((to - from) * n) / POINTS);
  const line = (list: readonly Curve[]): number[] =>
    at.map((t) => Math.max(...list.map(({ offset, rate }) => (offset + rate * t) / Math.LN10)));
  const [fitted, theory] = [line(fits), line(expected)];
  const least = Math.min(...fitted, ...theory) - BELOW;
  const simulated = at.map((t) => Math.max(least, Math.log10(valueAt(series, t))));
  const [low, high] = [Math.min(...simulated, ...fitted, ...theory) - 0.1, Math.max(...simulated, ...fitted, ...theory) + 0.1];
  const list = (numbers: readonly number[]): string => `  line [${numbers.map((value) => Number(value.toFixed(3))).join(", ")}]`;
  return [
    "```mermaid",
    `%%{init: {"themeVariables": {"xyChart": {"plotColorPalette": "${COLOURS}"}}}}%%`,
    "xychart-beta",
    `  title "${title}"`,
    `  x-axis "time" ${Number(from.toFixed(2))} --> ${Number(to.toFixed(2))}`,
    `  y-axis "log10 of the amplitude" ${low.toFixed(2)} --> ${high.toFixed(2)}`,
    ...[simulated, fitted, theory].map(list),
    "```",
  ].join("\n");
}

/** The times of all curves, and a little before and after. */
function rangeOf(times: readonly number[], curves: readonly Curve[]): [from: number, to: number] {
  const [first, last] = [Math.min(...curves.map(({ from }) => from)), Math.max(...curves.map(({ to }) => to))];
  const margin = 0.2 * (last - first);
  return [Math.max(times[0], first - margin), Math.min(times[times.length - 1], last + margin)];
}

/** The value at a time, on a straight line between two samples. */
function valueAt({ times, values }: Series, t: number): number {
  // However the last time was rounded.
  const margin = 1e-9 * Math.abs(t);
  const next = Math.max(
    1,
    times.findIndex((time) => time >= t - margin),
  );
  const share = (t - times[next - 1]) / (times[next] - times[next - 1]);
  return values[next - 1] + share * (values[next] - values[next - 1]);
}
