import { symbol, symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolStar, symbolTriangle, symbolWye } from "d3-shape";
import { svgElement, escapeSvg, line } from "../draw/svg.js";

export { drawing, svgElement, escapeSvg, line, svgText, type PlotBox } from "../draw/svg.js";

const SHAPES = [symbolCircle, symbolSquare, symbolTriangle, symbolDiamond, symbolStar, symbolCross, symbolWye];

/** A marker whose shape and colour are numbered; the words show where the mouse rests. */
export function marker(x: number, y: number, shape: number, series: number, words: string, area = 56): string {
  const d = symbol(SHAPES[shape % SHAPES.length], area)()!;
  return svgElement(
    "path",
    { d, transform: `translate(${x.toFixed(2)},${y.toFixed(2)})`, class: `marker s${series % SERIES_COLOURS}` },
    svgElement("title", {}, escapeSvg(words)),
  );
}

/** A vertical error bar of one sigma each way, or nothing where sigma is unknown or too small to see. */
export function errorBar(x: number, y1: number, y2: number, series: number): string {
  if (!(Math.abs(y2 - y1) > 1)) return "";
  const kind = `error s${series % SERIES_COLOURS}`;
  return line(x, y1, x, y2, kind) + line(x - 3, y1, x + 3, y1, kind) + line(x - 3, y2, x + 3, y2, kind);
}

/** How many series have a colour of their own (`s0`, `s1`, ... in the report's style). */
export const SERIES_COLOURS = 10;
