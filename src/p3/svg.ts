import { symbol, symbolCircle, symbolCross, symbolDiamond, symbolSquare, symbolStar, symbolTriangle, symbolWye } from "d3-shape";

/** Text that is safe between tags and in quoted attributes. */
export function escape(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

type Attributes = Record<string, string | number | undefined>;

/** One element; numbers are rounded to a hundredth of a pixel. */
export function element(name: string, attributes: Attributes, ...children: string[]): string {
  const list = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === "number" ? Number(value.toFixed(2)) : escape(value!)}"`);
  return children.length ? `<${name}${list.join("")}>${children.join("")}</${name}>` : `<${name}${list.join("")}/>`;
}

export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return element("text", { x, y, ...attributes }, escape(content));
}

export function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return element("line", { x1, y1, x2, y2, class: kind });
}

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A drawing with a title and a description for those who do not see it. */
export function drawing(width: number, height: number, title: string, description: string, ...children: string[]): string {
  return element(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. ${description}`, style: `max-width:${width}px` },
    ...children,
  );
}

const SHAPES = [symbolCircle, symbolSquare, symbolTriangle, symbolDiamond, symbolStar, symbolCross, symbolWye];

/** A marker whose shape and colour are numbered; the words show where the mouse rests. */
export function marker(x: number, y: number, shape: number, series: number, words: string, area = 56): string {
  const d = symbol(SHAPES[shape % SHAPES.length], area)()!;
  return element(
    "path",
    { d, transform: `translate(${x.toFixed(2)},${y.toFixed(2)})`, class: `marker s${series % COLOURS}` },
    element("title", {}, escape(words)),
  );
}

/** A vertical error bar of one sigma each way, or nothing where sigma is unknown or too small to see. */
export function errorBar(x: number, y1: number, y2: number, series: number): string {
  if (!(Math.abs(y2 - y1) > 1)) return "";
  const kind = `error s${series % COLOURS}`;
  return line(x, y1, x, y2, kind) + line(x - 3, y1, x + 3, y1, kind) + line(x - 3, y2, x + 3, y2, kind);
}

/** How many series have a colour of their own (`s0`, `s1`, ... in the report's style). */
export const COLOURS = 10;
