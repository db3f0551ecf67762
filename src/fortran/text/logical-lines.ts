/*
 * Statements and directives as lines: `&` joined, `;` split, comments taken off and kept. Each knows where its characters stood.
 */

import type { Location } from "../../ir/types.js";
import type { Problems } from "../errors.js";
import type { Sentinel } from "../tree/index.js";
import { preprocess, type SourceOptions } from "./preprocess.js";
import type { SourceLine } from "./source-line.js";

/** Source of a part of a joined line. */
interface Piece {
  readonly from: number;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** One statement or directive. */
export class LogicalLine {
  constructor(
    readonly text: string,
    private readonly pieces: readonly Piece[],
    /** Comments, with their `!`, and "" for blank lines, before it or between its parts. */
    readonly before: readonly string[],
    /** A comment after it. */
    readonly behind: string | undefined,
    /** For a directive, whose text begins after it. */
    readonly sentinel: Sentinel | undefined,
    /** Whether it was after `!@cuf`. */
    readonly cudaOnly: boolean,
    private readonly base = 0,
  ) {}

  /** The place in the original of a character of `text`. */
  at(offset: number): Location {
    const position = offset + this.base;
    let piece = this.pieces[0];
    for (const next of this.pieces) if (next.from <= position) piece = next;
    return { file: piece.file, line: piece.line, column: piece.column + position - piece.from };
  }

  /** Text from a character on. */
  part(from: number): LogicalLine {
    return new LogicalLine(this.text.slice(from), this.pieces, [], undefined, undefined, false, this.base + from);
  }

  /** The statements between its semicolons. */
  split(): LogicalLine[] {
    if (!this.text.includes(";") || this.sentinel) return [this];
    const ends = [...outsideStrings(this.text, ";"), this.text.length];
    const parts: LogicalLine[] = [];
    let from = 0;
    for (const end of ends) {
      const text = this.text.slice(from, end);
      const first = parts.length === 0;
      if (text.trim() !== "")
        parts.push(
          new LogicalLine(text, this.pieces, first ? this.before : [], first ? this.behind : undefined, undefined, this.cudaOnly, from),
        );
      from = end + 1;
    }
    return parts;
  }
}

const SENTINEL = /^\s*!(?:\$(cuf|acc|omp)(?!\w)|(@cuf)(?!\w))/i;

/** The lines of a file, and the comments after the last. */
export function logicalLines(text: string, options: SourceOptions, problems: Problems): { lines: LogicalLine[]; after: readonly string[] } {
  const lines: LogicalLine[] = [];
  let before: string[] = [];
  let open: Open | undefined;

  const finish = (behind?: string): void => {
    const { text, pieces, sentinel, cudaOnly } = open!;
    open = undefined;
    if (text.trim() === "") return;
    lines.push(...new LogicalLine(text, pieces, before, behind, sentinel, cudaOnly).split());
    before = [];
  };

  for (const source of preprocess(text, options, problems)) {
    const marked = SENTINEL.exec(source.text);
    const sentinel = marked?.[1]?.toLowerCase() as Sentinel | undefined;
    const start = marked?.[0].length ?? 0;
    const same = open?.sentinel === sentinel && open?.cudaOnly === (marked?.[2] !== undefined);
    if (open && (!same || !marked)) {
      // Skips comments between the parts of a statement; a directive continues after its own sentinel.
      const comment = source.text.trim();
      if (comment === "" || (comment.startsWith("!") && !open.quote)) {
        if (comment !== "") before.push(comment);
        continue;
      }
      if (!same) {
        problems.add(open.at, "&", "the directive does not continue after its sentinel on the next line");
        finish();
      }
    }
    if (!marked && !open && /^\s*(!|$)/.test(source.text)) {
      before.push(source.text.trim());
      continue;
    }
    open ??= { text: "", pieces: [], sentinel, cudaOnly: marked?.[2] !== undefined, quote: "", at: placeOf(source, start) };
    const behind = join(open, source, start);
    if (behind === undefined) finish();
    else if (behind.goesOn) {
      if (behind.comment !== undefined) before.push(behind.comment);
    } else finish(behind.comment);
  }
  if (open) {
    problems.add(open.at, "&", "the statement continues past the end of the file");
    finish();
  }
  return { lines, after: before };
}

interface Open {
  text: string;
  readonly pieces: Piece[];
  readonly sentinel: Sentinel | undefined;
  readonly cudaOnly: boolean;
  /** The quote of a string that goes on. */
  quote: string;
  readonly at: Location;
}

/** Adds a line to the open statement; tells whether that goes on, and the comment. */
function join(open: Open, source: SourceLine, start: number): { goesOn: boolean; comment?: string } | undefined {
  const text = source.text;
  let from = start;
  const goingOn = open.pieces.length > 0;
  if (goingOn) {
    const first = text.slice(start).search(/\S/);
    if (first >= 0 && text[start + first] === "&") from = start + first + 1;
    else if (!open.quote) open.text += " ";
  }
  let end = text.length;
  for (let n = from; n < text.length; n++) {
    const c = text[n];
    if (open.quote) {
      if (c === open.quote) open.quote = "";
    } else if (c === "'" || c === '"') open.quote = c;
    else if (c === "!") {
      end = n;
      break;
    }
  }
  const comment = end < text.length ? text.slice(end).trimEnd() : undefined;
  let content = text.slice(from, end).trimEnd();
  const goesOn = content.endsWith("&");
  if (goesOn) content = content.slice(0, -1);
  else open.quote = "";
  open.pieces.push({ from: open.text.length, file: source.file, line: source.line, column: from + 1 });
  open.text += content;
  return goesOn || comment !== undefined ? { goesOn, ...(comment === undefined ? {} : { comment }) } : undefined;
}

const placeOf = ({ file, line }: SourceLine, start: number): Location => ({ file, line, column: start + 1 });

/** Positions of a character outside of strings. */
function outsideStrings(text: string, wanted: string): number[] {
  const found: number[] = [];
  let quote = "";
  for (let n = 0; n < text.length; n++) {
    if (quote) quote = text[n] === quote ? "" : quote;
    else if (text[n] === "'" || text[n] === '"') quote = text[n];
    else if (text[n] === wanted) found.push(n);
  }
  return found;
}
