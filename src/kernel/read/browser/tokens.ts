/* Words of JavaScript. Text that comes here was accepted by an engine before, so nothing is checked that only tells right from wrong. */

export type TokenKind = "name" | "number" | "string" | "mark" | "private" | "end";

export interface Token {
  readonly kind: TokenKind;
  /** As it is written. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** A line ends between it and the token before. */
  readonly onNewLine: boolean;
}

const SPACE = /(?:\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[^]*?\*\/)*/y;
const LINE_END = /[\n\r\u2028\u2029]/;
const TOKENS: readonly (readonly [TokenKind, RegExp])[] = [
  ["name", /[$_\p{ID_Start}][$\u200c\u200d\p{ID_Continue}]*/uy],
  ["number", /(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?[\d_]+)?)n?/y],
  ["string", /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'/y],
  ["private", /#[$_\p{ID_Start}][$\u200c\u200d\p{ID_Continue}]*/uy],
  [
    "mark",
    />>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\.(?!\d)|\+\+|--|[-+*/%&|^]=|<<|>>|\*\*|[-+*/%&|^!~<>=?:;,.(){}[\]`]/y,
  ],
];
const REGEX = /\/(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[\p{ID_Continue}$]*/uy;
/** A part of a template, up to an expression or the end. */
const QUASI = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;

/** The token at `at`, or after the separators there. Throws SyntaxError. */
export function tokenAt(text: string, at: number): Token {
  const space = matched(SPACE, text, at) ?? "";
  const start = at + space.length;
  const onNewLine = LINE_END.test(space);
  if (start >= text.length) return { kind: "end", text: "", start, end: start, onNewLine };
  for (const [kind, pattern] of TOKENS) {
    const found = matched(pattern, text, start);
    if (found !== undefined) return { kind, text: found, start, end: start + found.length, onNewLine };
  }
  throw new SyntaxError(`unexpected "${text[start]}"`);
}

/** The regular expression at `at`, which no token can be told from a quotient. */
export const regexAt = (text: string, at: number): string => matched(REGEX, text, at) ?? "";

/** A template's text from `at` on. */
export const quasiAt = (text: string, at: number): string => matched(QUASI, text, at) ?? "";

function matched(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", v: "\v", f: "\f", 0: "\0" };

/** Value of a string or of a part of a template. */
export const cooked = (raw: string): string =>
  raw.replace(
    /\\(?:u\{([\da-fA-F]+)\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|(\r\n|[^]))/g,
    (_, point?: string, unit?: string, byte?: string, other?: string) => {
      const code = point ?? unit ?? byte;
      if (code !== undefined) return String.fromCodePoint(parseInt(code, 16));
      return ESCAPED[other!] ?? (/[\n\r\u2028\u2029]/.test(other!) ? "" : other!);
    },
  );
