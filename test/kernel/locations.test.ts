import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { f64, kernel, view, type Kernel } from "isoform";
import { lower } from "../../src/kernel/lower/lower.js";
import { walkStmts } from "../../src/ir/walk.js";
import { pointedAt, refusal } from "./lowered.js";

const y = view(f64);
const folder = mkdtempSync(join(tmpdir(), "isoform-locations-"));
after(() => rmSync(folder, { recursive: true }));

/** A module made from text, which may import nothing: it is handed `kernel` and `y`. */
async function load(name: string, text: string): Promise<Kernel> {
  const file = join(folder, name);
  writeFileSync(file, text);
  const module = (await import(pathToFileURL(file).href)) as { make: (k: typeof kernel, v: typeof y) => Kernel };
  return module.make(kernel, y);
}

describe("places are those of the author's file", () => {
  it("through the source map of tsc", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      const half: number = y[i] / 2;
      // This comment, and the types, are gone from what runs.
      y[i] = missing(half as number);
    });
    const error = refusal(k);
    assert.ok(pointedAt(error).startsWith("missing(half"));
    assert.match(error.location.file, /locations\.test\.ts$/);
  });
  it("for every statement", () => {
    const k = kernel("k", { y }, ({ y }, i) => {
      let a = y[i];
      if (a > 0) {
        a -= 1;
      }
      y[i] = a;
    });
    const places: string[] = [];
    walkStmts(lower(k as unknown as Kernel, {}).body, (s) => places.push(pointedAt({ location: s.location } as never).split(/[;\n]/)[0]));
    assert.deepEqual(places, ["a = y[i]", "if (a > 0) {", "a -= 1", "y[i] = a"]);
  });
  it("in JavaScript without a source map", async () => {
    const k = await load(
      "plain.mjs",
      `
export const make = (kernel, y) => kernel("k", { y }, ({ y }, i) => {
  y[i] = 1;
  y[i] = gone;
});
`,
    );
    const { location } = refusal(k);
    assert.deepEqual({ ...location }, { file: join(folder, "plain.mjs"), line: 4, column: 10 });
  });
  it("in files whose names need escapes, with a map inside", async () => {
    const map = { version: 3, sources: ["the author's.ts"], names: [], mappings: ";AACA,QAAQ;AAER" };
    const comment = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(JSON.stringify(map)).toString("base64")}`;
    const k = await load(
      "with space.mjs",
      `// compiled
export const make = (kernel, y) => kernel("k", { y }, ({ y }, i) => { gone(); });
${comment}`,
    );
    const { location } = refusal(k);
    assert.equal(location.file, join(folder, "the author's.ts"));
    assert.equal(location.line, 2);
  });
  it("of the second of two equal kernels", async () => {
    const text = `({ y }, i) => {\n  y[i] = gone;\n}`;
    const k = await load(
      "twice.mjs",
      `export const other = ${text};\nexport const make = (kernel, y) =>\n  kernel("k", { y },\n${text});\n`,
    );
    assert.equal(refusal(k).location.line, 7);
  });
  it("where the engine strips the types, and leaves spaces", () => {
    const text = "({ y }: { y: number[] }, i: number): void => {\n  const v: number = y[i];\n  y[i] = gone(v as number);\n}";
    const file = join(folder, "typed.ts");
    writeFileSync(file, `// A kernel.\nexport const k = kernel("k", { y },\n${text});\n`);
    const stripped = text.replace(/: (\{ y: number\[\] \}|number|void)| as number/g, (type) => " ".repeat(type.length));
    const k = { ...kernel("k", { y }, new Function(`return ${stripped}`)() as never), location: { file, line: 2, column: 18 } };
    assert.deepEqual({ ...refusal(k).location }, { file, line: 5, column: 10 });
  });
  it("where esbuild has numbered names that stand outside of the function, too", () => {
    const file = join(folder, "shadowed.ts");
    writeFileSync(
      file,
      'const k = kernel("k", { x, y }, ({ x, y }: Params, i: number) => {\n  y[i] = x[i];\n  y[i] += gone;\n});\nconst x = 1, y = 2;\n',
    );
    const run = "({x:x2,y:y2},i)=>{y2[i]=x2[i];y2[i]+=gone}";
    const k = { ...kernel("k", { x: view(f64), y }, new Function(`return ${run}`)() as never), location: { file, line: 1, column: 11 } };
    assert.deepEqual({ ...refusal(k).location }, { file, line: 3, column: 11 });
  });
  it("where tools strip the types, set the lines anew and keep the result to themselves", () => {
    const text = [
      "({ y }: { y: number[] }, i: number): void => {",
      "  // y[i] = gone;",
      "  const v: number = 0.5 * (y[i] as number);",
      "  if (v > 1.50)",
      "    y[i] = -gone(v);",
      "}",
    ].join("\n");
    const file = join(folder, "in-memory.ts");
    writeFileSync(file, `// A kernel.\nexport const k = kernel("k", { y },\n${text});\n`);
    const run = "({y},i)=>{const v=.5*y[i];if(v>1.5)y[i]=-gone(v)}";
    const k = { ...kernel("k", { y }, new Function(`return ${run}`)() as never), location: { file, line: 2, column: 18 } };
    const error = refusal(k);
    assert.deepEqual({ ...error.location }, { file, line: 7, column: 13 });
    assert.equal(error.frame, "  6 |   if (v > 1.50)\n> 7 |     y[i] = -gone(v);\n    |             ^");
    assert.ok(error.stack!.includes(error.frame));
  });
  it("where the engine maps stacks itself", { skip: process.execArgv.includes("--enable-source-maps") }, () => {
    const here = fileURLToPath(import.meta.url);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status, stdout } = spawnSync(process.execPath, ["--enable-source-maps", "--test-name-pattern=places", here], {
      env,
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout);
  });
  it("about right where the text is in no file: counted from the declaration", () => {
    const text = ["({ y }, i) => {", "y[i] = gone;", "}"].join("\n");
    const k = kernel("k", { y }, new Function(`return ${text}`)() as never);
    assert.equal(refusal(k).location.line, k.location.line + 1);
  });
  it("with the helper's name where its text is elsewhere", () => {
    const helper = new Function(["return (v) => v *", "gone"].join(" "))() as (v: number) => number;
    assert.match(
      refusal(
        kernel("k", { y, helper }, ({ y, helper }, i) => {
          y[i] = helper(y[i]);
        }),
      ).message,
      /in helper: captures "gone"/,
    );
  });
});

declare function missing(v: number): number;
