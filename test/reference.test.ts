import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { deadLinks } from "../scripts/docs/anchors.js";
import { pagesOf, sidebarOf, withCharts } from "../scripts/docs/pages.js";
import { entryPoints } from "../scripts/docs/entry-points.js";

/* The reference of the API, which `npm run docs` makes of docstrings; the site itself is built by CI. */

const root = fileURLToPath(new URL("../../", import.meta.url));
const entries = entryPoints(root);

const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile).config, ts.sys, root);
const program = ts.createProgram(
  [...entries.values()].map((path) => root + path),
  { ...options, incremental: false, tsBuildInfoFile: undefined },
);
const checker = program.getTypeChecker();
const exportsOf = (path: string): ts.Symbol[] => {
  const symbol = checker.getSymbolAtLocation(program.getSourceFile(root + path)!)!;
  return checker.getExportsOfModule(symbol).map((name) => (name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name));
};

describe("every export has a docstring", () => {
  for (const [name, path] of entries)
    it(name, () => {
      const all = exportsOf(path);
      assert.ok(all.length > 0);
      const bare = all.filter(
        (symbol) => !(symbol.flags & ts.SymbolFlags.ValueModule) && symbol.getDocumentationComment(checker).length === 0,
      );
      assert.deepEqual(
        bare.map((symbol) => `${symbol.name} in ${symbol.declarations?.[0].getSourceFile().fileName.slice(root.length)}`),
        [],
      );
    });
});

it("every export of the root stands in a page", () => {
  const pages = ["README.md", ...readdirSync(`${root}docs`).map((file) => `docs/${file}`)].filter((file) => file.endsWith(".md"));
  const prose = pages.map((file) => readFileSync(root + file, "utf8")).join("\n");
  const code = new Set([...prose.matchAll(/^```[^]*?^```|`[^`\n]+`/gm)].flatMap(([text]) => text.match(/\w+/g) ?? []));
  const missing = exportsOf(entries.get("isoform")!).filter((symbol) => !code.has(symbol.name));
  assert.deepEqual(
    missing.map((symbol) => symbol.name),
    [],
  );
});

describe("the site's pages", () => {
  const pages = new Map(pagesOf(root).map(({ path, text }) => [path, text]));

  it("are those of the repository, with pages for linked sources", () => {
    assert.match(pages.get("index.md")!, /\]\(examples\/index\.md\)/);
    assert.match(pages.get("examples/index.md")!, /\]\(wave\.ts\.md\)/);
    assert.match(pages.get("examples/wave.ts.md")!, /^# examples\/wave\.ts\n\n```ts\n/);
    assert.match(pages.get("docs/getting-started.md")!, /import \{ f64, fixed/);
  });

  it("stand in the sidebar as in the README", () => {
    const groups = sidebarOf(pages.get("index.md")!);
    assert.deepEqual(
      groups.map(({ text }) => text),
      ["Learn", "Use", "Extend"],
    );
    assert.deepEqual(groups[0].items.slice(0, 2), [
      { text: "Getting started", link: "/docs/getting-started" },
      { text: "Examples", link: "/examples/" },
    ]);
  });

  it("have charts of bars as tables", () => {
    const chart = '```mermaid\nxychart-beta horizontal\n  title "Speed"\n  x-axis ["A", "B, dense"]\n  bar [1, 2]\n```';
    assert.equal(withCharts(chart), "| Speed | |\n|---|---:|\n| A | 1 |\n| B, dense | 2 |");
  });

  it("have charts of lines as pictures", () => {
    const data = '  x-axis "time" 0 --> 10\n  y-axis "amplitude" -1 --> 1\n  line [0.5, -0.5, 0.25]\n  line [1, 0, -1]\n';
    const picture = withCharts(`\`\`\`mermaid\n%%{init: {}}%%\nxychart-beta\n  title "Waves"\n${data}\`\`\``);
    const [, alt, base64] = /^<img alt="(.*)" src="data:image\/svg\+xml;base64,(.*)">$/.exec(picture)!;
    const svg = Buffer.from(base64, "base64").toString();
    assert.equal(alt, "Waves");
    for (const text of ["time", "amplitude", "line 1", "line 2"]) assert.ok(svg.includes(`>${text}<`), text);
  });

  it("have flow charts as drawings", () => {
    const page = withCharts(
      'Before\n```mermaid\nflowchart BT\n  a & b -- by <hand> --> c["the {{end}}"]\n  d --> a\n  d --> c\n```\nafter',
    );
    const [, svg] = /^Before\n(<svg v-pre="" .*<\/svg>)\nafter$/.exec(page)!;
    const tops = Object.fromEntries(
      [...svg.matchAll(/<rect x="[^"]*" y="([^"]*)"[^>]*\/><text[^>]*>([^<]*)</g)].map(([, y, label]) => [label, Number(y)]),
    );
    assert.deepEqual(Object.keys(tops).toSorted(), ["a", "b", "d", "the {{end}}"]);
    assert.ok(tops["the {{end}}"] < tops.a && tops.a < tops.d, "from bottom to top");
    assert.equal(svg.match(/>by &#60;hand&#62;</g)?.length, 1);
    assert.equal(svg.match(/marker-end/g)?.length, 4);
    assert.throws(() => withCharts("```mermaid\nflowchart LR\n  a --> b\n  b --> a\n```"), /arrows go round/);
    assert.throws(() => withCharts("```mermaid\nflowchart LR\n  a --> (b)\n```"), /"\(b\)" is not understood/);
  });

  it("are searched for links to headings that are not there", () => {
    const site = new Map([
      ["/index.html", '<a href="./a.html#x">, <a href="/a.html#y">, <a href="#no">, <a href="https://no.example/#z">'],
      ["/a.html", '<h2 id="x"></h2>, <a href="./#no">'],
    ]);
    assert.deepEqual(deadLinks(site), ["/index.html: /a.html#y", "/index.html: #no", "/a.html: ./#no"]);
  });
});
