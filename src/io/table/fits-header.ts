import { IsoformError } from "../../base/errors.js";
import type { Metadata } from "./table.js";

/*
 * Headers of FITS files (FITS standard 4.0): cards of 80 characters in blocks of 2880 bytes.
 */

/** Bytes of a block. */
export const FITS_BLOCK = 2880;
const CARD = 80;
/** Characters of a text value in a card, with its quotes. */
const LONGEST_TEXT = 70;
/** Most blocks of a header: 10,000 cards of a table with the most columns, 999, and as many of the program's own. */
const MOST_BLOCKS = 400;

/** A value of a card. */
type CardValue = string | number | boolean;

/** A value as a card has it, right-adjusted or in quotes. */
function valueText(value: CardValue): string {
  if (typeof value === "boolean") return (value ? "T" : "F").padStart(20);
  if (typeof value === "string") return quoted(value).padEnd(20);
  const text = String(value).replace("e", "E");
  return (Number.isInteger(value) || /[.E]/.test(text) ? text : `${text}.`).padStart(20);
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''").padEnd(8)}'`;

/** Cards of a keyword and its value: texts that are too long go on in CONTINUE cards. */
export function cardsOf(key: string, value: CardValue, comment = ""): string[] {
  const start = `${key.padEnd(8)}= `;
  if (typeof value !== "string" || quoted(value).length <= LONGEST_TEXT) {
    const text = start + valueText(value);
    const room = CARD - text.length - 3;
    return [`${text}${comment !== "" && room > 8 ? ` / ${comment.slice(0, room)}` : ""}`.padEnd(CARD)];
  }
  const pieces: string[] = [];
  for (let rest = value; rest !== "";) {
    let length = Math.min(rest.length, LONGEST_TEXT - 3);
    while (rest.slice(0, length).replaceAll("'", "''").length > LONGEST_TEXT - 3) length--;
    pieces.push(rest.slice(0, length));
    rest = rest.slice(length);
  }
  return pieces.map((piece, n) => {
    const text = `'${piece.replaceAll("'", "''")}${n + 1 < pieces.length ? "&" : ""}'`;
    return `${n === 0 ? start : "CONTINUE  "}${text}`.padEnd(CARD);
  });
}

/** A header's blocks. */
export function headerBytes(cards: readonly string[]): Buffer {
  const text = [...cards, "END".padEnd(CARD)].join("");
  return Buffer.from(text.padEnd(Math.ceil(text.length / FITS_BLOCK) * FITS_BLOCK), "latin1");
}

/** Texts that a header holds: ASCII from space to tilde. */
export const isFitsText = (text: string): boolean => /^[ -~]*$/.test(text);

/** A header that was read. */
export interface FitsHeader {
  readonly cards: ReadonlyMap<string, string | boolean>;
  /** Whether a card's value was in quotes. */
  readonly texts: ReadonlySet<string>;
  /** Place of the first byte after it. */
  readonly end: number;
}

/** Reads the header at a place of a file; undefined where the file ends there. Throws IsoformError for other bytes. */
export function readFitsHeader(file: Buffer, at: number, path: string): FitsHeader | undefined {
  if (at >= file.length) return undefined;
  const cards = new Map<string, string | boolean>();
  const texts = new Set<string>();
  let last: string | undefined;
  for (let place = at; ; place += CARD) {
    if (place + CARD > file.length || place - at > MOST_BLOCKS * FITS_BLOCK)
      throw new IsoformError(`${path} is damaged: the header at byte ${at} has no END; fetch or write the file again`);
    const card = file.toString("latin1", place, place + CARD);
    const key = card.slice(0, 8).trimEnd();
    if (key === "END") return { cards, texts, end: at + Math.ceil((place + CARD - at) / FITS_BLOCK) * FITS_BLOCK };
    const isMore = key === "CONTINUE";
    if (isMore ? last === undefined : card.slice(8, 10) !== "= ") continue;
    const value = card.slice(isMore ? 8 : 10).trimStart();
    const text = /^'((?:[^']|'')*)'/.exec(value)?.[1].replaceAll("''", "'");
    if (isMore) {
      const before = String(cards.get(last!)).slice(0, -1);
      cards.set(last!, before + (text ?? "").trimEnd());
      if (!text?.trimEnd().endsWith("&")) last = undefined;
      continue;
    }
    if (!cards.has(key)) {
      cards.set(key, text?.trimEnd() ?? value.split("/")[0].trim());
      if (text !== undefined) texts.add(key);
    }
    last = text?.trimEnd().endsWith("&") ? key : undefined;
  }
}

/** Keywords that say how a table lies in the file. */
const STRUCTURE =
  /^(XTENSION|SIMPLE|BITPIX|NAXIS\d*|PCOUNT|GCOUNT|EXTEND|EXTNAME|EXTVER|TFIELDS|THEAP|CHECKSUM|DATASUM|DATE|LONGSTRN|COMMENT|HISTORY|)$|^(T(TYPE|FORM|UNIT|NULL|SCAL|ZERO|DISP|DIM|COMM|BCOL|UCD|UTYP|CTYP|DMIN|DMAX|LMIN|LMAX))\d+$/;

/** Single values of a header beside the table's structure. */
export function metadataOf({ cards, texts }: FitsHeader): Metadata {
  const found: Record<string, CardValue> = {};
  for (const [key, text] of cards) {
    if (STRUCTURE.test(key)) continue;
    const number = Number(String(text).replace("D", "E"));
    found[key] = texts.has(key) ? String(text) : text === "T" || text === "F" ? text === "T" : Number.isNaN(number) ? String(text) : number;
  }
  return found;
}

/** Whole number of a card. Throws IsoformError where it is not one from 0 to `most`. */
export function axisCount({ cards }: FitsHeader, key: string, path: string, most = Number.MAX_SAFE_INTEGER): number {
  const text = String(cards.get(key) ?? "");
  const value = Number(text);
  if (!/^\+?\d+$/.test(text) || value > most)
    throw new IsoformError(`${path} is damaged: ${key} is "${text}", not a whole number from 0 to ${most}; fetch or write the file again`);
  return value;
}

/** Ones' complement sum of big-endian words of 32 bits, with what was summed before. `bytes` has a multiple of four. */
export function sumOf(bytes: Uint8Array, before = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [high, low] = [Math.floor(before / 65536), before % 65536];
  // Sums of 16-bit halves stay exact for any length that a Buffer has.
  for (let at = 0; at < bytes.byteLength; at += 4) {
    high += view.getUint16(at);
    low += view.getUint16(at + 2);
  }
  while (high > 0xffff || low > 0xffff) {
    const [fromHigh, fromLow] = [Math.floor(high / 65536), Math.floor(low / 65536)];
    high = (high % 65536) + fromLow;
    low = (low % 65536) + fromHigh;
  }
  return high * 65536 + low;
}

const SKIPPED = new Set([...":;<=>?@[\\]^_`"].map((c) => c.charCodeAt(0)));

/** Characters of CHECKSUM that bring the sum of a unit, with `sum` before, to all ones (FITS 4.0, appendix J). */
export function checksumText(sum: number): string {
  const complement = 0xffffffff - sum;
  const out = new Uint8Array(16);
  for (let byte = 0; byte < 4; byte++) {
    const value = Math.floor(complement / 2 ** (24 - 8 * byte)) % 256;
    const quotient = Math.floor(value / 4) + 48;
    const parts = [quotient + (value % 4), quotient, quotient, quotient];
    while (parts.some((part) => SKIPPED.has(part)))
      for (const pair of [0, 2])
        while (SKIPPED.has(parts[pair]) || SKIPPED.has(parts[pair + 1])) {
          parts[pair]++;
          parts[pair + 1]--;
        }
    for (let part = 0; part < 4; part++) out[4 * part + byte] = parts[part];
  }
  return Buffer.from([out[15], ...out.subarray(0, 15)]).toString("latin1");
}
