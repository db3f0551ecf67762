import { INSPECT } from "../base/inspect.js";
import { LaunchError } from "../base/errors.js";
import { EVEN_COLOURS, NO_VALUE } from "./colours.js";
import { cellAxes, heatMap } from "./heat-map.js";
import { plot } from "./plot.js";
import { pngOf } from "./png.js";

/** Pixels of the longer side of a PNG, at least. */
const PIXELS = 512;
/** Signs of a plot in a terminal, from small to great. */
const SHADES = [..." \u2591\u2592\u2593\u2588"];
const BARS = [..." \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"];
const [COLUMNS, ROWS] = [72, 24];

/**
 * A picture of values along a line or over a rectangle. Printed, it is a plot of characters; as the value of a cell in a notebook of Deno or Jupyter, a drawing.
 */
export class ValuePicture {
  constructor(
    readonly title: string,
    /** Row by row, the lowest first. NaN stands for a missing value. */
    readonly values: ArrayLike<number>,
    readonly width: number,
    /** 1 along a line. */
    readonly height: number,
  ) {
    Object.defineProperty(this, INSPECT, { value: () => this.text() });
    Object.defineProperty(this, Symbol.for("Jupyter.display"), {
      value: () => ({ "image/svg+xml": this.svg(), "text/plain": this.text() }),
    });
  }

  /** The drawing as an SVG file, with axes and colours or a curve. */
  svg(): string {
    const { title, values, width, height } = this;
    if (height > 1) return heatMap({ title, quantity: "value", width, height, values, axes: cellAxes(width, height) });
    const x = Array.from({ length: width }, (_, n) => n);
    return plot(title, [{ title: "", x: { label: "index" }, y: { label: "value" }, curves: [{ name: title, as: "line", x, y: values }] }]);
  }

  /**
   * The cells as a PNG file, each some pixels wide.
   * @throws LaunchError along a line, and in pages
   */
  png(): Uint8Array {
    const { width, height } = this;
    if (height === 1) throw new LaunchError(`${this.title} is a curve, which a PNG of cells does not show: draw it as SVG`);
    const scale = Math.max(1, Math.round(PIXELS / Math.max(width, height)));
    const pixels = new Uint8Array(3 * width * scale * height * scale);
    const level = this.levels(EVEN_COLOURS.length);
    const colours = [...EVEN_COLOURS, NO_VALUE].map((text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));
    for (let y = 0; y < height * scale; y++)
      for (let x = 0; x < width * scale; x++) {
        const cell = (height - 1 - Math.floor(y / scale)) * width + Math.floor(x / scale);
        pixels.set(colours[level(cell)], 3 * (y * width * scale + x));
      }
    return pngOf(width * scale, height * scale, pixels);
  }

  /** A plot of characters, with the least and the greatest value below it. */
  text(): string {
    const { title, width, height } = this;
    const [columns, rows] = [Math.min(width, COLUMNS), Math.min(height, ROWS)];
    const signs = height > 1 ? SHADES : BARS;
    const level = this.levels(signs.length);
    const at = (n: number, shown: number, all: number): number => Math.floor(((n + 0.5) * all) / shown);
    const lines = Array.from({ length: rows }, (_, row) => {
      const y = at(rows - 1 - row, rows, height);
      return Array.from({ length: columns }, (_, column) => signs[level(y * width + at(column, columns, width))] ?? "?").join("");
    });
    const [least, most] = this.bounds();
    return [title, ...lines.map((line) => line.trimEnd()), `${least.toPrecision(4)} to ${most.toPrecision(4)}`].join("\n");
  }

  toString(): string {
    return this.text();
  }

  /** The least and the greatest value. */
  private bounds(): readonly [number, number] {
    const known = Array.from(this.values).filter(Number.isFinite);
    return known.length === 0
      ? [NaN, NaN]
      : [known.reduce((a, b) => Math.min(a, b), Infinity), known.reduce((a, b) => Math.max(a, b), -Infinity)];
  }

  /** Bands between the bounds: a cell's band, `count` where it has no value. */
  private levels(count: number): (cell: number) => number {
    const [least, most] = this.bounds();
    const span = most - least || 1;
    return (cell) => {
      const value = this.values[cell];
      return Number.isNaN(value) || Number.isNaN(least)
        ? count
        : Math.max(0, Math.min(count - 1, Math.floor(((value - least) / span) * count)));
    };
  }
}
