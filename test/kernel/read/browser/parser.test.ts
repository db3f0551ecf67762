import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import * as acorn from "acorn";
import { parseExpressionAt } from "../../../../src/kernel/read/browser/parser.js";
import { walkSyntax } from "../../../../src/kernel/read/syntax.js";

/* The parser for browsers against acorn, whose trees it has to make. */

const root = fileURLToPath(new URL("../../../../../", import.meta.url));

/** A tree as text, its parts in one order, without what the library does not look at. */
const plain = (tree: unknown): string =>
  JSON.stringify(
    tree,
    (key, value: unknown) => {
      if (key === "directive") return undefined;
      if (typeof value === "bigint" || value instanceof RegExp) return String(value);
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    1,
  );

const byAcorn = (text: string): acorn.Node =>
  acorn.parseExpressionAt(text, 0, { ecmaVersion: "latest", sourceType: "module", locations: true });

function parses(text: string): boolean {
  try {
    return byAcorn(text) !== undefined;
  } catch {
    return false;
  }
}

function same(text: string): void {
  const [found, expected] = [plain(parseExpressionAt(text, 0)), plain(byAcorn(text))];
  if (found !== expected) assert.equal(found, expected, text.slice(0, 2000));
}

/** The outermost functions of a module's text, but those with classes, at whose inside the parser does not look. */
function functionsOf(text: string): string[] {
  const found: string[] = [];
  const visit = (node: acorn.AnyNode): void => {
    if (!/^(FunctionExpression|ArrowFunctionExpression|FunctionDeclaration)$/.test(node.type)) return;
    let classes = false;
    walkSyntax(node, ({ type }) => (classes ||= type.startsWith("Class")), true);
    const last = found.at(-1);
    if (!classes && !(last && last.includes(text.slice(node.start, node.end)))) found.push(text.slice(node.start, node.end));
  };
  walkSyntax(acorn.parse(text, { ecmaVersion: "latest", sourceType: "module", allowHashBang: true }), visit, true);
  return found;
}

const scripts = ["dist/src", "dist/apps", "node_modules/acorn/dist"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.m?js$/.test(name))
    .map((name) => join(root, folder, name)),
);

test("functions of whole programs have acorn's trees", () => {
  let count = 0;
  for (const script of scripts) {
    const text = readFileSync(script, "utf8");
    if (!/^(import|export) /m.test(text)) continue;
    for (const one of functionsOf(text)) {
      // Methods are no expressions.
      if (!parses(`(${one})`)) continue;
      same(`(${one})`);
      count++;
    }
  }
  assert.ok(count > 2000, `${count} functions`);
});

const EXPRESSIONS = [
  "({ a, i }) => { a[i] = 1; }",
  "({ a, b = 2, ...rest }, [x, , y = 3]) => a",
  "({ step({ u }, c) { u[c] = 1 }, get x() { return 1 }, async *y() { yield* z; yield }, get: 1, [k + 1]: 2, 'a': 3, 4: 5 })",
  "(a ?? b) || c && d | e ^ f & g == h < i << j + k * l ** (-m) ** n",
  "(-a) ** 2, (a, b)",
  "a?.b?.[c]?.(d).e + (a?.b).c",
  "x = y = z += 1",
  "[a, b] = [b, a]",
  "({ a: b.c, d = 1 } = e)",
  "a ? b : c ? d : e",
  "a++ + ++b - -c - --d",
  "f(...a, b)`x${`y${z}`}\\n`",
  "new A(1).b(new C, new d.e[f]())",
  "a / b / c, /[/\\]]+/g.test(d), a = /=/",
  "0x1F + 0b11 + 0o17 + 1_000.5e-3 + .5 + 5. + 10n",
  "'a\\u0041\\x42\\n\\'' + \"\\u{1F600}\\\n\"",
  "typeof void delete a.b instanceof c in d",
  "async x => await x",
  "async (x) => { for await (const y of x) await y }",
  "function* () { const a = yield b; yield\nc }",
  "() => ({})",
  "(0, a.b)(c)",
  "π => π + ünder_$",
  "function () { import.meta.url + new.target }",
];

for (const text of EXPRESSIONS) test(`acorn's tree of ${text}`, () => same(text));

const STATEMENTS = [
  "let x = 1, [y] = z; var a\nconst b = 2",
  "for (let i = 0, n = a.length; i < n; i++) continue",
  "for (;;) { break }",
  "for (const x of y) ; for (x in y) z; for (var i = (a in b) ? 1 : 2; ; );",
  "outer: while (1) { do x--; while (x) break outer }",
  "if (a) b; else if (c) { d } else e",
  "switch (a) { case 1: case 2: b(); break; default: c }",
  "try { a } catch ({ b }) { c } finally { d } try { } catch { }",
  "return\na",
  "a\n++b",
  "a\ntoString\nconstructor",
  "throw new Error('x'); debugger; ;",
  "function f() { return 1 } async function g() { }",
  "let\nof = 1",
  "{ // a comment }\n /* and } another */ }",
];

for (const text of STATEMENTS) test(`acorn's tree of ${text.replaceAll("\n", " \\n ")}`, () => same(`() => {${text}}`));

test("a class is one node, whatever is in it", () => {
  const [written, after] = ["class A extends B { c = `${'}'}`; d() {} }", "e"];
  const text = `() => { ${written} ${after} }`;
  const { body } = (parseExpressionAt(text, 0) as acorn.ArrowFunctionExpression).body as acorn.BlockStatement;
  assert.deepEqual(
    body.map(({ type, start, end }) => [type, text.slice(start, end)]),
    [
      ["ClassDeclaration", written],
      ["ExpressionStatement", after],
    ],
  );
});

for (const text of ["", "a b", "(", "a +", "{ }", "() => { a b }"])
  test(`"${text}" is refused, or read as far as it goes`, () => {
    if (parses(text)) same(text);
    else assert.throws(() => parseExpressionAt(text, 0), SyntaxError);
  });
