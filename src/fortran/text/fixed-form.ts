import type { Problems } from "../errors.js";
import type { SourceLine } from "./source-line.js";

/* Fixed form as free form: comments by their first column, labels, continuation by column 6, statements up to column 72. */

/** Whether a file is in fixed form, by its name. */
export const isFixedForm = (file: string): boolean => /\.(f|f77|for|ftn|fpp)$/i.test(file);

const LAST = 72;
const SENTINEL = /^[cC*!](\$(?:omp|acc|cuf)|@cuf)(.)(.*)$/i;

/** A line as free form has it, but for the `&` of the line before: continuation lines begin with `&`. */
export function freeLine(written: string): string {
  if (/^\s*#/.test(written)) return written;
  const line = expandedTab(written);
  const [, word, mark, rest] = SENTINEL.exec(line.padEnd(6)) ?? [];
  if (word !== undefined) return `!${word}${isMark(mark) ? "&" : " "}${rest.slice(0, LAST - 6)}`.trimEnd();
  // Lines that begin with d are for debugging.
  if (/^[cCdD*!]/.test(line)) return `!${line.slice(1)}`;
  if (/^\s*(!|$)/.test(line) && line[5] !== "!") return line;
  const text = line[5] === "0" ? `${line.slice(0, 5)} ${line.slice(6, LAST)}` : line.slice(0, LAST);
  return isMark(text[5]) && text.slice(0, 5).trim() === "" ? `${text.slice(0, 5)}&${text.slice(6)}` : text;
}

const isMark = (c: string | undefined): boolean => c !== undefined && c !== " " && c !== "0";

/** A tab ends the columns of the label; a digit after it continues the statement. */
function expandedTab(line: string): string {
  const [, label, digit] = /^([ \d]{0,5})\t([1-9]?)/.exec(line) ?? [];
  if (label === undefined) return line;
  return label.padEnd(5) + (digit || " ") + line.slice(label.length + 1 + digit.length);
}

/** Text after column 72, except sequence numbers; undefined if there is none. */
export function cutOff(written: string): string | undefined {
  const line = expandedTab(written);
  if (/^([cCdD*!#]|\s*!)/.test(line) && !SENTINEL.test(line)) return undefined;
  const [more] = line.slice(LAST).split("!");
  const isInComment = outsideStrings(line.slice(0, LAST), "!") >= 0;
  return isInComment || /^\s*\w{0,8}\s*$/.test(more) ? undefined : more.trim();
}

/** Lines of free form, with `&` at the ends of those that are continued. */
export function joinedLines(lines: readonly SourceLine[], problems: Problems): SourceLine[] {
  const made = [...lines];
  /** The last line of the statement, by which the next one may continue it. */
  let open = -1;
  let quote = "";
  made.forEach((line, n) => {
    const { text } = line;
    const sentinel = /^!(\$(?:omp|acc|cuf)|@cuf)/i.exec(text)?.[0] ?? "";
    if (!sentinel && /^\s*(!|$)/.test(text)) return;
    const continues = text[sentinel ? sentinel.length : 5] === "&";
    if (continues && open < 0) problems.add({ file: line.file, line: line.line, column: 6 }, "&", "continues no statement");
    if (continues && open >= 0) {
      const before = made[open];
      const end = quote ? -1 : outsideStrings(before.text, "!", sentinel.length);
      const [statement, comment] = end < 0 ? [before.text, ""] : [before.text.slice(0, end), before.text.slice(end)];
      // A text goes on from column 72.
      const whole = quote ? statement.padEnd(LAST) : statement;
      made[open] = { ...before, text: `${whole}&${comment && ` ${comment}`}` };
    }
    quote = quoteAt(continues ? quote : "", text.slice(sentinel.length));
    open = n;
  });
  return made;
}

/** The quote of a text that a line leaves open. */
function quoteAt(open: string, text: string): string {
  let quote = open;
  for (const c of text) {
    if (quote) quote = c === quote ? "" : quote;
    else if (c === "'" || c === '"') quote = c;
    else if (c === "!") return "";
  }
  return quote;
}

/** The place of a character outside of texts; -1 if there is none. */
function outsideStrings(text: string, wanted: string, from = 0): number {
  let quote = "";
  for (let n = from; n < text.length; n++) {
    const c = text[n];
    if (quote) quote = c === quote ? "" : quote;
    else if (c === "'" || c === '"') quote = c;
    else if (c === wanted) return n;
  }
  return -1;
}
