import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { parse } from "acorn";
import { ModuleError } from "../../site/src/playground/module-error.js";
import { withoutTypes } from "../../site/src/playground/types.js";
import { root } from "./page.js";

/** What a script says, whatever its layout; statements without content, and places, do not count. */
function treeOf(script: string): unknown {
  const empty = ({ type, specifiers, declaration }: Record<string, unknown>): boolean =>
    type === "EmptyStatement" || (type === "ExportNamedDeclaration" && !declaration && (specifiers as unknown[]).length === 0);
  const bare = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((part) => !empty(part ?? {})).map(bare);
    if (typeof value !== "object" || value === null) return typeof value === "bigint" ? String(value) : value;
    const { start: _start, end: _end, raw: _raw, ...rest } = value as Record<string, unknown>;
    return Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, bare(part)]));
  };
  return bare(parse(script, { ecmaVersion: "latest", sourceType: "module" }));
}

/** The same module by TypeScript. */
async function transpiled(text: string): Promise<string> {
  const { default: ts } = await import("typescript");
  const { ESNext } = ts.ScriptTarget;
  return ts.transpileModule(text, { compilerOptions: { target: ESNext, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true } })
    .outputText;
}

async function same(text: string, what: string): Promise<void> {
  const script = withoutTypes(text);
  assert.equal(script.length, text.length, what);
  // Nothing moves: what is not blank, or parts two statements, or closes the parameters before an arrow, is where it was.
  for (let n = 0; n < text.length; n++) if (script[n] !== text[n]) assert.match(script[n], /[ ;)]/, `${what}: ${script.slice(n, n + 20)}`);
  assert.deepEqual(treeOf(script), treeOf(await transpiled(`${text}\nexport {};`)), what);
}

test("modules without their types are what TypeScript makes of them: all examples, and the sources of the page", async () => {
  let modules = 0;
  for (const folder of [
    "examples",
    "site/src",
    "site/src/playground",
    "src/kernel/declare",
    "src/kernel/read",
    "src/kernel/lower",
    "src/emit/wgsl",
  ]) {
    for (const name of readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))) {
      const text = readFileSync(join(root, folder, name), "utf8");
      // The compiler's own sources may have what is more than types.
      if (/constructor\([^)]*\b(?:readonly|private)\b/.test(text)) continue;
      await same(text, join(folder, name));
      modules++;
    }
  }
  assert.ok(modules > 70, `${modules} modules`);
});

for (const text of [
  "let a = 1\ntype T = number\n(a)",
  "let a = 1\n// f\ninterface I {}\n// g\n[a].at(0)",
  "let a = b as T\n(c)",
  "let a = b satisfies T // f\n[c].at(0)",
  "let a = b! + c!.d![0]! as unknown as T",
  "const f = (x: T)\n: Promise<\n T> => x",
  "const f = async <T,>(x: T): Promise<T> => <T>x",
  "class A { private static readonly x?: number; private [k]: 1; z(): void; z() {} }",
  "class A { y = 1\n declare x: 2\n [k] = 3 }",
  "class A { y = 1\n private [k] = 3 }",
  "class A { 'x'?: number; [y]?: 2; #z!: 3; [k: string]: 4; m?(): void {} }",
  "export abstract class A<T> extends B<T> implements C<T>, D { constructor(); constructor(a?) { super() } abstract m(): void }",
  "f(a!, b!.c, <T>d, e<T>, (g as T))",
  "const x = `${a as T} ${b!}`",
  "function f(this: A, b?) {} function g(this: A) {}",
  "function f<const T>(x: T): x is number { return x }",
  "for (const x of y as T[]) z",
  "const {a, b: c}: X = y as const satisfies Z;",
  "import a, { type B, c, type D } from 'x'; export { type E, c } from 'y'",
  "import { type B, type D, } from 'x'; import type F from 'y'; export type * from 'z'",
  "let x!: number, y: string | undefined = z!",
  "try {} catch (e: unknown) {}",
  "declare const x: number; declare module 'y' {} declare enum Z {}",
  "export default interface X {}\n(1)",
  "let u: unique symbol; function assert(x: unknown): asserts x is string {}",
  "let \u00e9: string = '\u{1f600}' as string; let b: T = c",
])
  test(`TypeScript without types: ${JSON.stringify(text)}`, () => same(text, text));

for (const [text, line, column, message] of [
  ["\nexport enum A { b }", 2, 8, /^an enum is more than a type/],
  ["namespace A { export const b = 1 }", 1, 1, /^a namespace/],
  ["class A { constructor(private a: number) {} }", 1, 23, /^a property among the parameters/],
  ["import a = require('b')", 1, 1, /^import =/],
  ["@d class A {}", 1, 1, /^a decorator/],
  ["let a: number = ;", 1, 17, /^Unexpected token$/],
] as const)
  test(`what cannot be read without types is refused at its place: ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => withoutTypes(text),
      (error: unknown) => {
        assert.ok(error instanceof ModuleError);
        const [found] = error.problems;
        assert.deepEqual([found.line, found.column], [line, column]);
        return message.test(found.message);
      },
    );
  });
