import { IsoformError } from "../../base/errors.js";
import type { ColumnType } from "./table.js";

/*
 * Headers of ECSV 1.0 (enhanced character-separated values), which are YAML: the few forms that such headers have, block lists and flow maps.
 */

/** A column as the header has it. */
interface HeaderColumn {
  readonly name: string;
  readonly datatype: string;
  readonly subtype?: string;
  readonly unit?: string;
  readonly description?: string;
}

/** A header's content. */
interface EcsvHeader {
  readonly delimiter: " " | ",";
  readonly columns: readonly HeaderColumn[];
  /** Single values of `meta`. */
  readonly meta: Readonly<Record<string, string>>;
}

/** Types of values by the names of ECSV. */
export const DATATYPES: Readonly<Record<string, ColumnType>> = {
  bool: "bool",
  int8: "i16",
  uint8: "u8",
  int16: "i16",
  uint16: "i32",
  int32: "i32",
  uint32: "i64",
  int64: "i64",
  uint64: "u64",
  float16: "f32",
  float32: "f32",
  float64: "f64",
  string: "text",
};

/** Reads the lines of a header, without `# `; `where` names a line of it for messages. Throws IsoformError. */
export function readEcsvHeader(lines: readonly string[], where: (line: number) => string): EcsvHeader {
  let delimiter: " " | "," = " ";
  const columns: HeaderColumn[] = [];
  const meta: Record<string, string> = {};
  for (let n = 0; n < lines.length;) {
    const [, key, value] = /^(\w+):\s*(.*)$/.exec(lines[n]) ?? [];
    let end = n + 1;
    while (end < lines.length && !/^\w+:/.test(lines[end])) end++;
    if (key === "delimiter") {
      const text = scalar(value);
      if (text !== " " && text !== ",") throw new IsoformError(`${where(n)}: delimiter ${JSON.stringify(text)}: ECSV has " " and ","`);
      delimiter = text;
    }
    if (key === "datatype")
      for (const { text, line } of itemsOf(lines, n + 1, end))
        columns.push(
          columnOfHeader(
            mapOf(text, () => where(line)),
            () => where(line),
          ),
        );
    if (key === "meta") for (const { text } of metaItems(value, lines, n + 1, end)) Object.assign(meta, singles(text));
    n = end;
  }
  if (columns.length === 0) throw new IsoformError(`${where(0)}: an ECSV header without a list "datatype:" of columns: write it again`);
  return { delimiter, columns, meta };
}

function columnOfHeader(map: ReadonlyMap<string, string>, where: () => string): HeaderColumn {
  const [name, datatype] = [map.get("name"), map.get("datatype")];
  if (name === undefined || datatype === undefined) throw new IsoformError(`${where()}: a column needs name and datatype`);
  if (!Object.hasOwn(DATATYPES, datatype))
    throw new IsoformError(
      `${where()}: the column ${JSON.stringify(name)} has the datatype ${JSON.stringify(datatype)}: there are ${Object.keys(DATATYPES).join(", ")}`,
    );
  return { name, datatype, subtype: map.get("subtype"), unit: map.get("unit"), description: map.get("description") };
}

/** Items of a block list, each with the line it begins on; following lines without a dash belong to it. */
function itemsOf(lines: readonly string[], first: number, end: number): { text: string[]; line: number }[] {
  const items: { text: string[]; line: number }[] = [];
  let dash: number | undefined;
  for (let n = first; n < end; n++) {
    const [, indent, rest] = /^(\s*)-(?:\s+(.*)|)$/.exec(lines[n]) ?? [];
    if (indent !== undefined && (dash === undefined || indent.length === dash)) {
      dash = indent.length;
      items.push({ text: rest === undefined || rest === "" ? [] : [rest], line: n });
    } else items.at(-1)?.text.push(lines[n]);
  }
  return items;
}

/** Entries of `meta`: of a block map, of a list of maps (`!!omap`), or of a flow map. */
function metaItems(value: string, lines: readonly string[], first: number, end: number): { text: string[] }[] {
  if (value.startsWith("{")) return [{ text: [value, ...lines.slice(first, end)] }];
  const items = itemsOf(lines, first, end);
  return items.length > 0 ? items : [{ text: lines.slice(first, end) }];
}

/** Single values of a map; entries that are maps or lists are left out. */
function singles(text: readonly string[]): Record<string, string> {
  try {
    return Object.fromEntries([...mapOf(text, () => "")].filter(([, value]) => value !== ""));
  } catch {
    return {};
  }
}

/** A map in flow style, `{a: b, c: d}`, or in block style, a key a line. */
function mapOf(text: readonly string[], where: () => string): Map<string, string> {
  const joined = text.map((line) => line.trim()).join(" ");
  if (joined.startsWith("{")) return flowMap(joined, where);
  const map = new Map<string, string>();
  let [indent, last] = [-1, ""];
  for (const line of text) {
    const [, margin, key, value] = /^(\s*)((?:[\w.-]+|"[^"]*"|'[^']*')):(?:\s+(.*))?$/.exec(line) ?? [];
    // The first line of an item has lost the dash's margin.
    const isEntry = key !== undefined && (map.size === 0 || indent < 0 || margin.length <= indent);
    if (isEntry) {
      if (map.size > 0 && indent < 0) indent = margin.length;
      last = scalar(key);
      map.set(last, scalar(value ?? ""));
    } else if (last !== "" && /^\s/.test(line) && !/^\s*-\s/.test(line)) map.set(last, `${map.get(last)} ${line.trim()}`.trim());
  }
  return map;
}

/** Reads `{a: b, c: 'd, e'}`; values that are maps or lists become empty. */
function flowMap(text: string, where: () => string): Map<string, string> {
  const map = new Map<string, string>();
  let at = 1;
  const skip = () => {
    while (text[at] === " " || text[at] === ",") at++;
  };
  for (skip(); at < text.length && text[at] !== "}"; skip()) {
    const key = token(":");
    if (text[at] !== ":") throw new IsoformError(`${where()}: this map of an ECSV header is not closed, or lacks ":"; write it again`);
    at++;
    while (text[at] === " ") at++;
    map.set(key, token(","));
  }
  if (text[at] !== "}") throw new IsoformError(`${where()}: this map of an ECSV header is not closed; write it again`);
  return map;

  /** The text up to a mark, or a quoted one. */
  function token(mark: string): string {
    const quoted = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*/.exec(text.slice(at));
    if (quoted) {
      at += quoted[0].length;
      return scalar(quoted[1]);
    }
    const first = at;
    let depth = 0;
    for (; at < text.length; at++) {
      if (depth === 0 && (text[at] === "}" || (mark === ":" ? /^:(\s|$)/.test(text.slice(at, at + 2)) : text[at] === mark))) break;
      if (text[at] === "{" || text[at] === "[") depth++;
      if (text[at] === "}" || text[at] === "]") depth--;
    }
    const plain = text.slice(first, at).trim();
    return /^[{[!]/.test(plain) ? "" : plain;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", '"': '"', "\\": "\\", "/": "/", " ": " ", 0: "\0" };

/** A scalar without its quotes. */
function scalar(text: string): string {
  const plain = text.trim();
  if (plain.length >= 2 && plain.startsWith("'") && plain.endsWith("'")) return plain.slice(1, -1).replaceAll("''", "'");
  if (plain.length >= 2 && plain.startsWith('"') && plain.endsWith('"'))
    return plain
      .slice(1, -1)
      .replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g, (whole, x, u, long, c) =>
        c === undefined ? String.fromCodePoint(Number.parseInt(x ?? u ?? long, 16)) : (ESCAPES[c] ?? whole),
      );
  return /^[{[!]/.test(plain) ? "" : plain;
}
