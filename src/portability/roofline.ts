import { scaleLinear, scaleLog } from "d3-scale";
import { isIteration, type TimedCell } from "./cells.js";
import type { Roof } from "./metric.js";
import { SERIES_COLOURS, drawing, svgElement, errorBar, line, marker, svgText } from "./svg.js";
import { figure, percentText, secondsText } from "./tables.js";

const WIDTH = 460;
const HEIGHT = 340;
const BOX = { left: 62, right: WIDTH - 14, top: 30, bottom: HEIGHT - 44 };

/** Kernels of one problem on one platform. */
export interface ProblemKernels {
  platform: string;
  problem: string;
  roof: Roof;
  cells: readonly TimedCell[];
}

type Ordinal = (name: string) => number;

/** A kernel's figures, for its tooltip. */
const wordsOf = (c: TimedCell & { readonly bytes: number; readonly flops: number }): string =>
  `${c.quantity}, ${c.application}: ${figure(c.flops / c.seconds.value / 1e9)} GFLOP/s at ${(c.flops / c.bytes).toPrecision(3)} FLOP/byte, ` +
  `${figure(c.bytes / c.seconds.value / 1e9)} GB/s, ${secondsText(c.seconds.value, c.seconds.sigma)}`;

/**
 * The roofline of Williams, Waterman and Patterson (CACM 2009): each kernel at its arithmetic intensity and its rate, under the
 * measured bandwidth and the measured rate of multiply-adds. Colours are applications, shapes are kernels.
 */
export function roofline({ platform, problem, roof, cells }: ProblemKernels, colourOf: Ordinal, shapeOf: Ordinal): string {
  const kernels = cells.flatMap((c) => (!isIteration(c) && c.bytes && c.flops ? [{ ...c, bytes: c.bytes, flops: c.flops }] : []));
  const intensities = kernels.map((c) => c.flops / c.bytes);
  const ridge = roof.flops === undefined ? undefined : roof.flops / roof.bandwidth;
  const x = scaleLog([Math.min(...intensities) / 2, 2 * Math.max(ridge ?? 0, ...intensities)], [BOX.left, BOX.right]).clamp(true);
  const [first, last] = x.domain();
  const roofAt = (intensity: number) => Math.min(intensity * roof.bandwidth, roof.flops ?? Infinity);
  const rates = kernels.map((c) => c.flops / c.seconds.value);
  const y = scaleLog([Math.min(roofAt(first), ...rates) / 1.5, 2 * Math.max(roofAt(last), ...rates)], [BOX.bottom, BOX.top]).clamp(true);

  const xTicks = decadeTicks(first, last).map(
    (v) =>
      line(x(v), BOX.top, x(v), BOX.bottom, "grid") +
      svgText(x(v), BOX.bottom + 16, tickText(v), { class: "tick", "text-anchor": "middle" }),
  );
  const yTicks = decadeTicks(...(y.domain() as [number, number])).map(
    (v) =>
      line(BOX.left, y(v), BOX.right, y(v), "grid") +
      svgText(BOX.left - 6, y(v) + 4, tickText(v / 1e9), { class: "tick", "text-anchor": "end" }),
  );
  const corner = ridge === undefined ? "" : `L${x(ridge)},${y(roofAt(ridge))}`;
  const roofPath = svgElement("path", { d: `M${x(first)},${y(roofAt(first))}${corner}L${x(last)},${y(roofAt(last))}`, class: "roof" });
  const bandwidthLabel = `${figure(roof.bandwidth / 1e9)} GB/s`;
  const slope = (Math.atan2(y(roofAt(first)) - y(roofAt(2 * first)), x(2 * first) - x(first)) * -180) / Math.PI;
  const at = first * Math.pow((ridge ?? last) / first, 0.62);
  const labels = [
    svgElement(
      "g",
      { transform: `translate(${x(at).toFixed(1)},${(y(roofAt(at)) - 7).toFixed(1)}) rotate(${slope.toFixed(1)})` },
      svgText(0, 0, bandwidthLabel, { class: "note" }),
    ),
    roof.flops === undefined
      ? ""
      : svgText(BOX.right - 4, y(roof.flops) - 7, `${figure(roof.flops / 1e9)} GFLOP/s`, { class: "note", "text-anchor": "end" }),
  ];
  const points = kernels.map((c) => {
    const rate = c.flops / c.seconds.value;
    const sigma = Number.isNaN(c.seconds.sigma) ? 0 : (rate * c.seconds.sigma) / c.seconds.value;
    const px = x(c.flops / c.bytes);
    const colour = colourOf(c.application);
    return (
      errorBar(px, y(Math.max(rate - sigma, rate / 10)), y(rate + sigma), colour) +
      marker(px, y(rate), shapeOf(c.quantity), colour, wordsOf(c))
    );
  });
  return drawing(
    WIDTH,
    HEIGHT,
    `Roofline of ${platform}, ${problem}`,
    `${bandwidthLabel}${roof.flops ? `, ${figure(roof.flops / 1e9)} GFLOP/s` : ""}; ${kernels.length} kernels`,
    svgText(BOX.left - 48, 16, "GFLOP/s", { class: "axis" }),
    svgText(BOX.right, HEIGHT - 8, "arithmetic intensity, FLOP/byte", { class: "axis", "text-anchor": "end" }),
    ...xTicks,
    ...yTicks,
    roofPath,
    ...labels,
    ...points,
  );
}

/** Figure in place of a roofline if operations are not counted: each kernel's share of the bandwidth. */
export function bandwidthShares({ platform, problem, roof, cells }: ProblemKernels, colourOf: Ordinal, shapeOf: Ordinal): string {
  const kernels = cells.flatMap((c) => (!isIteration(c) && c.bytes ? [{ ...c, share: c.bytes / c.seconds.value / roof.bandwidth }] : []));
  const names = [...new Set(kernels.map((c) => c.quantity))];
  const x = scaleLinear([0, Math.max(1, ...kernels.map((c) => c.share))], [BOX.left, BOX.right]);
  const step = (BOX.bottom - BOX.top) / names.length;
  const rowOf = (name: string) => BOX.top + (names.indexOf(name) + 0.5) * step;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (v) =>
      line(x(v), BOX.top, x(v), BOX.bottom, v === 1 ? "roof" : "grid") +
      svgText(x(v), BOX.bottom + 16, `${100 * v}`, { class: "tick", "text-anchor": "middle" }),
  );
  const rows = names.map(
    (name) =>
      line(BOX.left, rowOf(name) + step / 2, BOX.right, rowOf(name) + step / 2, "grid") +
      svgText(4, rowOf(name) + 4, name, { class: "label" }),
  );
  const applications = [...new Set(kernels.map((c) => c.application))];
  // Each application has a height of its own within the row, so that equal ones do not hide each other.
  const lift = (name: string) => ((applications.indexOf(name) + 0.5) / applications.length - 0.5) * 0.8 * step;
  const points = kernels.map((c) => {
    const sigma = (c.share * c.seconds.sigma) / c.seconds.value;
    const py = rowOf(c.quantity) + lift(c.application);
    const colour = colourOf(c.application);
    const wide = x(c.share + sigma) - x(c.share) > 1;
    return (
      (wide ? line(x(Math.max(0, c.share - sigma)), py, x(c.share + sigma), py, `error s${colour % SERIES_COLOURS}`) : "") +
      marker(x(c.share), py, shapeOf(c.application), colour, `${c.quantity}, ${c.application}: ${percentText(c.share, sigma)} %`, 34)
    );
  });
  return drawing(
    WIDTH,
    HEIGHT,
    `Share of the bandwidth of ${platform}, ${problem}`,
    `${names.length} kernels`,
    svgText(BOX.right, HEIGHT - 8, `% of ${figure(roof.bandwidth / 1e9)} GB/s`, { class: "axis", "text-anchor": "end" }),
    ...ticks,
    ...rows,
    ...points,
  );
}

/** Powers of ten, with 2 and 5 times them where there are few. */
export function decadeTicks(first: number, last: number): number[] {
  const wide = Math.log10(last / first) > 2.5;
  const low = Math.floor(Math.log10(first));
  const high = Math.ceil(Math.log10(last));
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i))
    .flatMap((power) => (wide ? [power] : [power, 2 * power, 5 * power]))
    .filter((v) => v >= first && v <= last);
}

function tickText(value: number): string {
  return String(Number(value.toPrecision(3)));
}
