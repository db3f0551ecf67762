/* Value of the condition of an `#if`. */

const TOKEN = /\s*(defined\b|[A-Za-z_]\w*|0[xX][\da-fA-F]+|\d+|&&|\|\||[=!<>]=|[-+*/%!<>()])/y;
const MOST_NESTED = 100;

/** From weak to strong. */
const LEVELS: readonly Readonly<Record<string, (a: number, b: number) => number>>[] = [
  { "||": (a, b) => Number(a !== 0 || b !== 0) },
  { "&&": (a, b) => Number(a !== 0 && b !== 0) },
  { "==": (a, b) => Number(a === b), "!=": (a, b) => Number(a !== b) },
  { "<": (a, b) => Number(a < b), "<=": (a, b) => Number(a <= b), ">": (a, b) => Number(a > b), ">=": (a, b) => Number(a >= b) },
  { "+": (a, b) => a + b, "-": (a, b) => a - b },
  { "*": (a, b) => a * b, "/": (a, b) => Math.trunc(a / b), "%": (a, b) => a % b },
];

/** Names that are not defined are 0, as in C. @throws Error with what is wrong */
export function conditionValue(text: string, macros: ReadonlyMap<string, string>): number {
  const tokens = tokensOf(text);
  let [n, nested] = [0, 0];
  const value = level(0);
  if (n < tokens.length) throw new Error(`\`${tokens[n]}\` was not expected`);
  return value;

  function level(strength: number): number {
    if (strength === LEVELS.length) return primary();
    let value = level(strength + 1);
    while (n < tokens.length && Object.hasOwn(LEVELS[strength], tokens[n])) {
      const operation = LEVELS[strength][tokens[n++]];
      value = operation(value, level(strength + 1));
    }
    return value;
  }

  function primary(): number {
    if (++nested > MOST_NESTED) throw new Error("nests too deep");
    try {
      const token = tokens[n++];
      if (token === "!") return Number(primary() === 0);
      if (token === "-") return -primary();
      if (token === "+") return primary();
      if (token === "(") return closed(level(0));
      if (token === "defined") {
        const enclosed = tokens[n] === "(" && n++ > 0;
        const known = Number(macros.has(tokens[n++]));
        return enclosed ? closed(known) : known;
      }
      if (token === undefined) throw new Error("a value is missing");
      if (/^\d/.test(token)) return Number(token);
      const meant = /^\w/.test(token) ? macros.get(token)?.trim() : undefined;
      if (meant === undefined && !/^\w/.test(token)) throw new Error(`\`${token}\` was not expected`);
      return meant === undefined || !/^\d+$/.test(meant) ? 0 : Number(meant);
    } finally {
      nested--;
    }
  }

  function closed(value: number): number {
    if (tokens[n++] !== ")") throw new Error("`)` is missing");
    return value;
  }
}

function tokensOf(text: string): string[] {
  const source = text.replace(/\/\*.*?\*\/|\/\/.*$/g, " ").trimEnd();
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match) throw new Error(`\`${source.slice(at).trim()[0]}\` was not expected`);
    found.push(match[1]);
  }
  return found;
}
