import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { Script } from "node:vm";
import { f64, kernel, view } from "isoform";
import { agrees, doubles, refusal } from "./lowered.js";

const folder = mkdtempSync(join(tmpdir(), "isoform-plus-"));
after(() => rmSync(folder, { recursive: true }));
const memory = () => ({ x: doubles(1, 2, 3), y: doubles(0, 0, 0) });
const params = { x: view(f64), y: view(f64) };

type Make = (declare: typeof kernel, p: typeof params) => ReturnType<typeof kernel<typeof params>>;

/** The kernel that `code` makes, which runs under the name of a file that holds another text. */
function running(name: string, text: string, code: string): ReturnType<Make> {
  const file = join(folder, name);
  writeFileSync(file, text);
  return (new Script(code, { filename: file }).runInThisContext() as Make)(kernel, params);
}

const author = (quotient: string): string => `
export const make = (kernel, params) => kernel("k", params, ({ x, y }, i: number) => {
  const n: number = i + 5;
  // A fraction of integers.
  y[i] = ${quotient} + x[i];
});
`;

it("a tool that leaves spaces away alone, as tsx does, leaves integers divided as refused", () => {
  const made = (quotient: string, name: string) =>
    running(name, author(quotient), `(kernel,params)=>kernel("k",params,({x,y},i)=>{const n=i+5;y[i]=${quotient}+x[i]})`);
  assert.match(refusal(made("n / 2", "refused.ts")).message, /refused\.ts:5:10: integers are divided/);
  assert.deepEqual([...agrees(made("+n / 2", "accepted.ts"), memory()).y.data], [3.5, 5, 6.5]);
});

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const encoded = (value: number): string => {
  let [rest, text] = [value < 0 ? (-value << 1) | 1 : value << 1, ""];
  do {
    const digit = rest & 31;
    rest >>>= 5;
    text += DIGITS[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
};

/** A source map of one line, each of the words in `code` from the same one of the author's `line`. */
function mapOf(code: string, source: string, text: string, line: number, words: readonly [inCode: number, inLine: number][]): string {
  let [column, original] = [0, 0];
  const segments = words.map(([at, from], n) => {
    const segment = [at - column, 0, n === 0 ? line : 0, from - original].map(encoded).join("");
    [column, original] = [at, from];
    return segment;
  });
  const map = JSON.stringify({ version: 3, sources: [source], sourcesContent: [text], mappings: segments.join() });
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${btoa(map)}`;
}

it("a source map shows whether a minifier has left a plus away", async () => {
  const made = async (quotient: string, name: string, exact = true) => {
    const text = author(quotient);
    const line = text.split("\n")[4];
    const code = 'export const make=(k,p)=>k("k",p,({x:a,y:b},t)=>{b[t]=(t+5)/2+a[t]});';
    const [t, five, two] = ["t+5", "5)", "2+"].map((word) => code.indexOf(word));
    // The minifier has put i + 5 in the place of n.
    const words: [number, number][] = [
      [t + (exact ? 0 : -3), line.indexOf("n")],
      [five, line.indexOf("n")],
      [two, line.indexOf("2")],
    ];
    const file = join(folder, name);
    writeFileSync(file, mapOf(code, "author.ts", text, 4, words.slice(0, exact ? 3 : 1)));
    return ((await import(file)) as { make: Make }).make(kernel, params);
  };
  assert.match(refusal(await made("n / 2", "refused.mjs")).message, /integers are divided/);
  for (const quotient of ["+n / 2", "+(n) / 2", "-(+n) / -2", "n / +2"])
    agrees(await made(quotient, `accepted-${encodeURIComponent(quotient).length}.mjs`), memory());
  agrees(await made("n / 2", "coarse.mjs", false), memory());
});
