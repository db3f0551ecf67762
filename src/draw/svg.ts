/** U+FFFD in place of characters that XML cannot have, not even escaped: control characters, halves of surrogate pairs, non-characters. */
export const withoutControls = (text: string): string => text.replace(/(?![\t\n\r])[\p{Cc}\p{Cs}\ufffe\uffff]/gu, "\ufffd");

/** Text that is safe between tags and in quoted attributes. */
export function escapeSvg(text: string): string {
  return withoutControls(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

type Attributes = Record<string, string | number | undefined>;

/** One element; numbers are rounded to a hundredth of a pixel. */
export function svgElement(name: string, attributes: Attributes, ...children: string[]): string {
  const list = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === "number" ? Number(value.toFixed(2)) : escapeSvg(value!)}"`);
  return children.length ? `<${name}${list.join("")}>${children.join("")}</${name}>` : `<${name}${list.join("")}/>`;
}

export function svgText(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return svgElement("text", { x, y, ...attributes }, escapeSvg(content));
}

export function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return svgElement("line", { x1, y1, x2, y2, class: kind });
}

export interface PlotBox {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A drawing with a title and a description for those who do not see it. */
export function drawing(width: number, height: number, title: string, description: string, ...children: string[]): string {
  return svgElement(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}. ${description}`, style: `max-width:${width}px` },
    ...children,
  );
}

/** The same as a file of its own, with the rules that it is drawn by. */
export function drawingFile(
  width: number,
  height: number,
  title: string,
  description: string,
  style: string,
  ...children: string[]
): string {
  return svgElement(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "img",
      "aria-label": `${title}. ${description}`,
    },
    svgElement("style", {}, style),
    ...children,
  );
}
