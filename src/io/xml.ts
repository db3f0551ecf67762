import { withoutControls } from "../draw/svg.js";

/** An element of an XML tree: text, or children. */
export interface XmlElement {
  readonly tag: string;
  readonly attributes?: Readonly<Record<string, string | number>>;
  readonly children?: readonly XmlElement[];
  readonly text?: string;
}

/** The element as text, a line or more. */
export function textOf({ tag, attributes = {}, children = [], text }: XmlElement): string {
  const start = `<${tag}${attributesText(attributes)}`;
  if (text !== undefined) return `${start}>${escape(text)}</${tag}>\n`;
  return children.length === 0 ? `${start}/>\n` : `${start}>\n${children.map(textOf).join("")}</${tag}>\n`;
}

/** Attributes as they stand in a start tag, a space before each. */
export const attributesText = (attributes: Readonly<Record<string, string | number>>): string =>
  Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${escape(String(value))}"`)
    .join("");

const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};
/** Text that is safe between tags and in quoted attributes. */
export const escape = (text: string): string => withoutControls(text).replace(/[&<>"\t\n\r]/g, (c) => ESCAPES[c]);
export const unescape = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#9|#10|#13);/g, (entity) => Object.keys(ESCAPES).find((c) => ESCAPES[c] === entity)!);
