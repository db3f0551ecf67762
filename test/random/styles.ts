import type { Block, Part, Stmt } from "./program.js";

/** How a random kernel is written: as a person would, as a minifier does, or with names that mean something elsewhere. */
export const STYLES = ["plain", "minified", "hostile"] as const;
export type Style = (typeof STYLES)[number];

/** Names of methods that objects inherit, of C's macros, words of other languages, and other alphabets. */
const HOSTILE = (
  "constructor valueOf toString hasOwnProperty isPrototypeOf __defineGetter__ M_PI INT32_MAX HUGE_VAL NULL NAN INFINITY EOF RAND_MAX FLT_MAX assert main " +
  "register auto signed unsigned struct union goto volatile inline asm template typename namespace and or not xor bool int float double half long uint size_t " +
  "threadIdx blockIdx warpSize global local get_global_id __global __shared__ loop fn ptr array workgroup select vec2 f32 u32 mat4x4 bitcast discard " +
  "unix linux i386 errno stdin isnan isinf fmin fmax sincos exp10 y0 jn gamma $ $$ $_ _ __ ñ é ß 名前 переменная π ⅷ async of get set from memory worker workers begin end"
).split(" ");

/** A word that stands for one of the program's own names: a letter with a number, or a parameter. */
const WORD = /(?<![\w$."])[A-Za-z_$][\w$]*(?![\w$"])/g;
const LOCAL = /^[a-z]\d+$/;

/** New names for the given parameters and for the locals that the generator numbers; the same whenever a program is written. */
export class Renaming {
  private readonly names = new Map<string, string>();
  private next = 0;

  constructor(
    private readonly style: Style,
    private readonly params: ReadonlySet<string>,
    /** Where the hostile names begin. */
    private readonly first: number,
    /** Names that mean something else. */
    private readonly taken: ReadonlySet<string> = new Set(),
  ) {}

  of(name: string): string {
    if (this.style === "plain" || !(LOCAL.test(name) || this.params.has(name))) return name;
    let known = this.names.get(name);
    if (!known) this.names.set(name, (known = this.fresh()));
    return known;
  }

  text(text: string): string {
    return this.style === "plain" ? text : text.replace(WORD, (word) => this.of(word));
  }

  /** A parameter as a function's pattern names it. */
  pattern(name: string): string {
    const own = this.of(name);
    return own === name ? name : `${name}: ${own}`;
  }

  private fresh(): string {
    const n = this.next++;
    if (this.style === "hostile") {
      const round = Math.floor(n / HOSTILE.length);
      const name = `${HOSTILE[(n + this.first) % HOSTILE.length]}${round || ""}`;
      return this.taken.has(name) ? this.fresh() : name;
    }
    const short = `${String.fromCharCode(97 + (Math.floor(n / 26) % 26))}${String.fromCharCode(97 + (n % 26))}${n < 676 ? "" : Math.floor(n / 676)}`;
    return ["do", "if", "in", "of", "as", "at", "is"].includes(short) ? this.fresh() : short;
  }
}

const isExpression = ({ parts }: Stmt): boolean =>
  parts.every((p) => typeof p === "string" || p.kind === "expr") &&
  !(typeof parts[0] === "string" && /^(const|let|if|for|while|do|switch|case|default|return|break|continue)\b/.test(parts[0]));

/** The expression of such a statement, without its semicolon. */
const bare = ({ parts }: Stmt): Part[] => parts.map((p, n) => (n === parts.length - 1 && typeof p === "string" ? p.replace(/;$/, "") : p));

const listed = (stmts: readonly Stmt[]): Part[] => stmts.flatMap((s, n) => [...(n ? [","] : []), "(", ...bare(s), ")"]);

/** The block as a minifier leaves it: statements in a row are one, and branches are expressions. */
export function minified(block: Block): Block {
  const out: Stmt[] = [];
  for (const before of block.stmts) {
    const stmt = branch({ ...before, parts: before.parts.map((p) => (typeof p !== "string" && p.kind === "block" ? minified(p) : p)) });
    const last = out.at(-1);
    if (last && isExpression(last) && isExpression(stmt))
      out[out.length - 1] = { kind: "stmt", parts: [...bare(last), ",", ...bare(stmt), ";"] };
    else out.push(stmt);
  }
  return { ...block, stmts: out };
}

/** `if (c) { x = 1; }` is `c && (x = 1)`. */
function branch(stmt: Stmt): Stmt {
  const [word, cond, , then, otherwise, last] = stmt.parts;
  if (word !== "if (" || typeof cond === "string" || typeof then === "string" || then?.kind !== "block") return stmt;
  const blocks = [then, ...(otherwise === " else " ? [last as Block] : [])];
  if (stmt.parts.length > 6 || !blocks.every(({ stmts }) => stmts.length > 0 && stmts.every(isExpression))) return stmt;
  const [yes, no] = blocks.map(({ stmts }) => ["(", ...listed(stmts), ")"]);
  return { kind: "stmt", parts: ["(", cond, ")", ...(no ? ["?", ...yes, ":", ...no] : ["&&", ...yes]), ";"] };
}

/** Text without what a minifier leaves out. */
export const squeezed = (text: string): string =>
  text
    .replace(/\s*\n\s*/g, "")
    .replace(/\bconst /g, "let ")
    .replace(/\btrue\b/g, "!0")
    .replace(/\bfalse\b/g, "!1")
    .replace(/\bInfinity\b/g, "1/0")
    .replace(/(?<![\w.])0\.(?=\d)/g, ".")
    .replace(/ *(===|!==|<=|>=|<<|>>>|>>|&&|\|\||=>|[=<>*/%&|^?:,;{}()]) */g, "$1");
