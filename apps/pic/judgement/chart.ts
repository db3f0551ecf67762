import type { Curve } from "./judgement.js";
import type { Series } from "./fits.js";

const WIDTH = 720;
const HEIGHT = 420;
/** Without the names of the curves, which stand above, two in a row. */
const BOX = { left: 84, right: WIDTH - 16, top: 40, bottom: HEIGHT - 44 };
const ROW = 18;
const COLOURS = ["#d55e00", "#009e73", "#cc79a7", "#56b4e9"];

const escape = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** Place of a curve's line and name, two in a row above the chart. */
const placeInKey = (n: number): [x: number, y: number] => [
  n % 2 === 0 ? BOX.left : (BOX.left + BOX.right) / 2,
  BOX.top + ROW * Math.floor(n / 2),
];

/** A round step that cuts a range into about six. */
function stepOf(range: number): number {
  const decade = 10 ** Math.floor(Math.log10(range / 6));
  return [1, 2, 5, 10].map((n) => n * decade).find((step) => range / step <= 8) ?? 10 * decade;
}

/**
 * An SVG file: a series over time with a logarithmic scale, and exponentials through parts of it.
 * @param quantity what the series is; the name of the y-axis
 */
export function chart(title: string, quantity: string, { times, values }: Series, curves: readonly Curve[]): string {
  const end = times[times.length - 1] || 1;
  const rows = Math.ceil((curves.length + 1) / 2);
  const top = BOX.top + ROW * rows;
  const positive = values.filter((value) => value > 0);
  const [least, most] = [Math.min(...positive), Math.max(...positive)];
  const [low, high] = [Math.floor(Math.log10(least)), Math.max(Math.ceil(Math.log10(most)), Math.floor(Math.log10(least)) + 1)];
  const x = (t: number): string => (BOX.left + ((BOX.right - BOX.left) * t) / end).toFixed(1);
  const y = (log: number): string => (BOX.bottom - ((BOX.bottom - top) * (log - low)) / (high - low)).toFixed(1);
  const label = (at: string, content: string): string => `<text ${at}>${escape(content)}</text>`;

  const decades = Array.from({ length: high - low + 1 }, (_, n) => low + n).map(
    (log) =>
      `<path class="grid" d="M${BOX.left} ${y(log)}H${BOX.right}"/>` +
      label(`x="${BOX.left - 8}" y="${y(log)}" dy="4" text-anchor="end"`, `1e${log}`),
  );
  const step = stepOf(end);
  const ticks = Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, n) => n * step).map(
    (t) =>
      `<path class="grid" d="M${x(t)} ${top}V${BOX.bottom}"/>` +
      label(`x="${x(t)}" y="${BOX.bottom + 18}" text-anchor="middle"`, String(Number(t.toPrecision(6)))),
  );
  const line = times.map((t, n) => `${x(t)} ${y(Math.log10(Math.max(values[n], least)))}`).join("L");
  const fits = curves.map(({ label: name, rate, offset, from, to }, n) => {
    const at = (t: number): string => `${x(t)} ${y((offset + rate * t) / Math.LN10)}`;
    const stroke = `stroke="${COLOURS[n % COLOURS.length]}"`;
    const [column, row] = placeInKey(n + 1);
    return (
      `<path ${stroke} class="fit"${n % 2 ? ' stroke-dasharray="7 5"' : ""} d="M${at(from)}L${at(to)}"/>` +
      `<path ${stroke} class="fit"${n % 2 ? ' stroke-dasharray="7 5"' : ""} d="M${column} ${row}h28"/>` +
      label(`x="${column + 36}" y="${row}" dy="4"`, name)
    );
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escape(title)}" font-family="sans-serif" font-size="12">` +
    `<style>.grid{stroke:#ddd}.fit{stroke-width:2.5;fill:none}.series{stroke:#0072b2;stroke-width:1.5;fill:none}</style>` +
    `<rect width="100%" height="100%" fill="white"/>` +
    [...decades, ...ticks].join("") +
    `<clipPath id="inside"><rect x="${BOX.left}" y="${top}" width="${BOX.right - BOX.left}" height="${BOX.bottom - top}"/></clipPath>` +
    `<path class="series" clip-path="url(#inside)" d="M${line}"/>` +
    fits.join("") +
    `<path class="series" d="M${BOX.left} ${BOX.top}h28"/>` +
    label(`x="${BOX.left + 36}" y="${BOX.top}" dy="4"`, "measured") +
    label(`x="${BOX.left}" y="22" font-size="15"`, title) +
    label(`transform="translate(20 ${(top + BOX.bottom) / 2}) rotate(-90)" text-anchor="middle"`, quantity) +
    label(`x="${(BOX.left + BOX.right) / 2}" y="${HEIGHT - 8}" text-anchor="middle"`, "time, in units of 1 / plasma frequency") +
    `</svg>\n`
  );
}
