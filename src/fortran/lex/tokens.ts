/* The tokens of a statement. No word is reserved: what a name means is for the parser to say. */

/** `op`: operators and punctuation; relations are written as `<`. */
type TokenKind = "name" | "integer" | "real" | "logical" | "string" | "op" | "end";

export interface Token {
  readonly kind: TokenKind;
  /** Lower case but for strings, which keep their quotes. */
  readonly text: string;
  /** For a literal: the kind after `_`. */
  readonly suffix?: string;
  /** For a relation written `.lt.`. */
  readonly dotted?: true;
  readonly from: number;
  readonly to: number;
}

/** A character that begins no token, or a string without an end. */
export class LexicalError extends Error {
  constructor(
    readonly offset: number,
    readonly construct: string,
    message: string,
  ) {
    super(message);
  }
}

const BLANK = /[ \t\f\v]*/y;
const NAME = /[a-z_]\w*/iy;
// A dot after digits belongs to the number unless it begins an operator: `1.and.`, `3.lt.x`, but `1.d0`, `1.e5`.
const NUMBER = /(?:\d+(?:\.(?![a-z]+\s*\.)\d*)?|\.\d+)(?:[ed][-+]?\d+)?/iy;
const SUFFIX = /_(\w+)/y;
const STRING = /'(?:[^']|'')*'|"(?:[^"]|"")*"/y;
const DOTTED = /\.([a-z]+)\./iy;
const OPERATOR = /<<<|>>>|\*\*|\/\/|==|\/=|<=|>=|=>|::|\(\/(?![=/])|\/\)|[-+*/=<>(),:%[\]]/y;

const RELATIONS: Readonly<Record<string, string>> = { lt: "<", le: "<=", gt: ">", ge: ">=", eq: "==", ne: "/=" };
const LOGICAL_OPERATORS: readonly string[] = ["and", "or", "not", "eqv", "neqv"];

const EXPONENT_WITHOUT_POINT = /^\d+[ed]/i;

/** The tokens, with one `end` after them. @throws LexicalError */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  const suffix = (): { suffix?: string } => {
    const found = match(SUFFIX);
    return found ? { suffix: found[1].toLowerCase() } : {};
  };
  for (match(BLANK); at < text.length; match(BLANK)) {
    const from = at;
    const add = (kind: TokenKind, word: string, more: { suffix?: string; dotted?: true } = {}): void =>
      void tokens.push({ kind, text: word, ...more, from, to: at });
    let found;
    if ((found = match(NAME))) add("name", found[0].toLowerCase());
    else if ((found = match(NUMBER))) {
      const number = found[0].toLowerCase();
      const more = suffix();
      add(number.includes(".") || EXPONENT_WITHOUT_POINT.test(number) ? "real" : "integer", number, more);
    } else if ((found = match(STRING))) add("string", found[0]);
    else if ((found = match(DOTTED))) {
      const word = found[1].toLowerCase();
      if (word === "true" || word === "false") add("logical", `.${word}.`, suffix());
      else if (Object.hasOwn(RELATIONS, word)) add("op", RELATIONS[word], { dotted: true });
      else if (LOGICAL_OPERATORS.includes(word)) add("op", `.${word}.`);
      else throw new LexicalError(from, found[0], "user-defined operators are not supported");
    } else if ((found = match(OPERATOR))) add("op", found[0]);
    else if (text[at] === "'" || text[at] === '"')
      throw new LexicalError(at, text.slice(at, at + 20), "the string does not end on this line");
    else if (text.startsWith("..", at)) throw new LexicalError(at, "..", "arrays of assumed rank are not supported");
    else throw new LexicalError(at, text[at], "the character does not belong here");
  }
  tokens.push({ kind: "end", text: "", from: text.length, to: text.length });
  return tokens;
}
