import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { posix } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const inside = (folder: string): string[] =>
  readdirSync(root + folder, { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`);
const pages = [...readdirSync(root), ...["docs", "apps", "bench", "site/src", "test"].flatMap(inside)].filter((file) =>
  file.endsWith(".md"),
);

interface Files {
  exists(path: string): boolean;
  text(path: string): string;
}
const real: Files = {
  exists: (path) => existsSync(root + path),
  text: (path) => readFileSync(root + path, "utf8"),
};

const withoutCode = (page: string): string =>
  page.replace(/^```[^]*?^```/gm, "").replace(/`[^`\n]*`/g, (code) => code.replace(/[[\]]/g, ""));

/** The names that headings have in addresses, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  const headings = [...page.replace(/^```[^]*?^```/gm, "").matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading);
  const seen = new Map<string, number>();
  return headings.map((heading) => {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");
    const name = plain
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    const before = seen.get(name) ?? 0;
    seen.set(name, before + 1);
    return before === 0 ? name : `${name}-${before}`;
  });
}

/** Links of a page to files and headings that are not there. */
function broken(path: string, { exists, text }: Files): string[] {
  const links = [...withoutCode(text(path)).matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)].map(([, link]) => link);
  return links.filter((link) => {
    if (/^(?:https?|mailto):/.test(link)) return false;
    const [file, anchor] = link.split("#");
    const target = file === "" ? path : posix.join(posix.dirname(path), file);
    if (!exists(target)) return true;
    return anchor !== undefined && target.endsWith(".md") && !anchorsOf(text(target)).includes(anchor);
  });
}

for (const page of pages) test(`${page} links to what is there`, () => assert.deepEqual(broken(page, real), []));

/** Paths within the repository or within src/, as pages write them between backticks. */
const PATH =
  /^(?:src|apps|site|bench|test|docs|ir|kernel|emit|device|patterns|set|domain|skeleton|draw|io|portability|cli|testing)\/[\w./-]*$/;
const named = (page: string): string[] =>
  [...page.replace(/^```[^]*?^```/gm, "").matchAll(/`([^`\n]+)`/g)].map(([, code]) => code).filter((code) => PATH.test(code));

for (const page of pages.filter((file) => file !== "CHANGELOG.md"))
  test(`${page} names files and folders that are there`, () => {
    const folder = posix.dirname(page);
    const missing = named(real.text(page)).filter((path) => !["", "src/", `${folder}/`].some((base) => existsSync(root + base + path)));
    assert.deepEqual(missing, []);
  });

test("every decision stands in the index, under its number and date", () => {
  const index = real.text("docs/decisions/README.md");
  const files = readdirSync(`${root}docs/decisions`).filter((file) => file !== "README.md");
  for (const [n, file] of files.sort().entries()) {
    const number = String(n + 1).padStart(4, "0");
    const [, title, date] = real.text(`docs/decisions/${file}`).match(/^# \d{4}\. (.*)\n\n(\d{4}-\d\d-\d\d)\n\n## Context\n/)!;
    assert.ok(file.startsWith(`${number}-`), file);
    assert.ok(index.includes(`| ${number} | [${title}](${file}) | ${date} |`), file);
  }
  assert.ok(statSync(`${root}docs/decisions`).isDirectory() && files.length > 0);
});

test("broken links are found", () => {
  const texts: Record<string, string> = {
    "docs/a.md":
      "# A `b` c\n\n[1](b.md), [2](#a-b-c), [3](b.md#two-words), [4](../src), [5](https://no.example/x.md)\n\n```ts\nf[0](x);\n```\n",
    "docs/b.md": "# Two words\n\n[1](c.md), [2](#no), [3](a.md#b), [4](../no/a.md)\n",
  };
  const files: Files = { exists: (path) => path in texts || path === "src", text: (path) => texts[path] };
  assert.deepEqual(broken("docs/a.md", files), []);
  assert.deepEqual(broken("docs/b.md", files), ["c.md", "#no", "a.md#b", "../no/a.md"]);
  assert.deepEqual(named("`ir/no.ts`, `a/b`, `kernel()`, `src/ir/`\n```\n`ir/code.ts`\n```"), ["ir/no.ts", "src/ir/"]);
});
