import { IsoformError } from "../../base/errors.js";

/*
 * Start tags, end tags and texts of an XML file, one after the other; names are without prefixes. Document types are refused: they can define entities.
 */

/** A piece of an XML file. */
export type XmlEvent =
  | {
      readonly kind: "start";
      readonly tag: string;
      readonly attributes: Readonly<Record<string, string>>;
      readonly empty: boolean;
      readonly line: number;
    }
  | { readonly kind: "end"; readonly tag: string; readonly line: number }
  | { readonly kind: "text"; readonly text: string; readonly line: number };

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Reads the pieces of `text`. Throws IsoformError, with the line, for other text. */
export function* xmlEvents(text: string, path: string): Generator<XmlEvent> {
  const open: string[] = [];
  let [line, counted] = [1, 0];
  const lineAt = (at: number): number => {
    for (let next = text.indexOf("\n", counted); next >= 0 && next < at; next = text.indexOf("\n", counted)) {
      line++;
      counted = next + 1;
    }
    return line;
  };
  const fail = (at: number, what: string): never => {
    throw new IsoformError(`${path}:${lineAt(at)}: ${what}`);
  };
  const plain = (raw: string, at: number): string =>
    raw.includes("&")
      ? raw.replace(/&(#x[0-9a-fA-F]{1,6}|#\d{1,7}|\w+|)(;?)/g, (_, name: string, end: string) => {
          const code = name.startsWith("#x")
            ? Number.parseInt(name.slice(2), 16)
            : name.startsWith("#")
              ? Number(name.slice(1))
              : undefined;
          if (end === "" || (code === undefined ? !Object.hasOwn(ENTITIES, name) : code > 0x10ffff))
            fail(at, `"&${name}" is not an entity of XML`);
          return code === undefined ? ENTITIES[name] : String.fromCodePoint(code);
        })
      : raw;
  /** End of what begins at `at`, after `mark`. */
  const after = (mark: string, at: number): number => {
    const end = text.indexOf(mark, at);
    return end < 0 ? fail(at, `XML ends without "${mark}"`) : end + mark.length;
  };
  for (let at = 0; at < text.length;) {
    const next = text.indexOf("<", at);
    const end = next < 0 ? text.length : next;
    if (end > at) yield { kind: "text", text: plain(text.slice(at, end), at), line: lineAt(at) };
    if (next < 0) break;
    at = next;
    if (text.startsWith("<!--", at)) at = after("-->", at);
    else if (text.startsWith("<![CDATA[", at)) {
      const stop = after("]]>", at);
      yield { kind: "text", text: text.slice(at + 9, stop - 3), line: lineAt(at) };
      at = stop;
    } else if (text.startsWith("<?", at)) at = after("?>", at);
    else if (text.startsWith("<!", at)) fail(at, "a document type: leave it out");
    else {
      const found = TAG.exec(((TAG.lastIndex = at), text)) ?? fail(at, "this is not a tag of XML");
      const [whole, closing, tag, rest, empty] = found;
      if (closing) {
        if (open.pop() !== tag) fail(at, `</${tag}> ends an element that is not open`);
        yield { kind: "end", tag, line: lineAt(at) };
      } else {
        const attributes: Record<string, string> = {};
        for (const [, key, inDouble, inSingle] of rest.matchAll(ATTRIBUTE)) attributes[key] = plain(inDouble ?? inSingle, at);
        yield { kind: "start", tag, attributes, empty: empty === "/", line: lineAt(at) };
        if (!empty) open.push(tag);
      }
      at += whole.length;
    }
  }
  if (open.length > 0) fail(text.length, `XML ends inside of <${open.at(-1)}>`);
}

const TAG = /<(\/?)(?:[\w.-]+:)?([\w.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /(?:[\w.-]+:)?([\w.-]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/g;
