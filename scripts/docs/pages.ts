import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { extname, posix } from "node:path";
import { plot } from "../../src/draw/index.js";
import { flowchart } from "./flowchart.js";

/* The repository's pages as pages of a site: links lead to where they lead on a code host. Linked sources and folders become pages, too. */

/** The pages of the site: the root's, and all of these folders. */
const FOLDERS = ["docs", "apps", "bench", "examples", "test/data"];

export interface Page {
  /** From the repository's root. */
  path: string;
  text: string;
}

/** All pages that are in the repository, with pages for what they link to. */
export function pagesOf(root: string): Page[] {
  const inside = (folder: string): string[] =>
    readdirSync(root + folder, { recursive: true, encoding: "utf8" }).map((file) => posix.join(folder, file.replaceAll("\\", "/")));
  const paths = [...readdirSync(root), ...FOLDERS.flatMap(inside)].filter((path) => path.endsWith(".md"));
  const linked = new Set<string>();
  const pages = paths.map((path) => ({ path: asIndex(path), text: withCharts(withLinks(root, path, linked)) }));
  return [...pages, ...[...linked].map((path) => ({ path: `${path}.md`, text: sourcePage(root, path) }))];
}

/** A README is what its folder shows. */
const asIndex = (path: string): string => path.replace(/(^|\/)README\.md$/, "$1index.md");

const LINK = /(\]\()([^)\s#]+)(#[^)\s]*)?(?=\))/g;
const CODE = /^```[^]*?^```|`[^`\n]+`/gm;

/** The page's text, with links to files and folders leading to their pages in the site; the paths of sources are added to `linked`. */
function withLinks(root: string, path: string, linked: Set<string>): string {
  const text = readFileSync(root + path, "utf8");
  const rewrite = (prose: string): string =>
    prose.replace(LINK, (whole, open: string, link: string, anchor = "") => {
      if (/^[a-z]+:/.test(link)) return whole;
      if (link.endsWith(".md")) return `${open}${asIndex(link)}${anchor}`;
      const target = posix.join(posix.dirname(path), link).replace(/\/$/, "");
      if (!existsSync(root + target)) return whole;
      linked.add(target);
      return `${open}${link.replace(/\/$/, "")}.md`;
    });
  const code = [...text.matchAll(CODE)];
  let end = 0;
  let result = "";
  for (const match of code) {
    // A link's text may be code: its target comes behind
    result += rewrite(text.slice(end, match.index)) + match[0];
    end = match.index + match[0].length;
  }
  return rewrite(result + text.slice(end));
}

const LANGUAGES: Readonly<Record<string, string>> = { ".ts": "ts", ".json": "json", ".js": "js", ".sh": "sh" };
/** Longer files are cut: measurements, mostly. */
const MOST = 40_000;

/** A page that shows a file, or lists a folder. */
function sourcePage(root: string, path: string): string {
  if (statSync(root + path).isDirectory())
    return `# ${path}\n\n${readdirSync(root + path)
      .map((file) => `- \`${file}\``)
      .join("\n")}\n`;
  const text = readFileSync(root + path, "utf8");
  const shown = text.length > MOST ? `${text.slice(0, MOST)}\n...` : text;
  return `# ${path}\n\n\`\`\`${LANGUAGES[extname(path)] ?? "text"}\n${shown.trimEnd()}\n\`\`\`\n`;
}

/** Charts of Mermaid, which the site does not draw: bars become tables, and what has lines or arrows a picture. */
export const withCharts = (text: string): string =>
  text
    .replace(/^```mermaid\n(?:%%.*\n)?xychart-beta[^]*?^```/gm, chartOf)
    .replace(/^```mermaid\n(flowchart [^]*?)^```/gm, (_, chart: string) => flowchart(chart));

function chartOf(chart: string): string {
  const lists = (name: string): string[][] =>
    [...chart.matchAll(new RegExp(`^ *${name}(?: "[^"]*")? \\[(.*)\\]`, "gm"))].map(([, list]) =>
      list.match(/"[^"]*"|[^\s,"]+/g)!.map((entry) => entry.replaceAll('"', "")),
    );
  const axis = (name: string): { label: string; from?: number; to?: number } => {
    const [, label = "", from, to] = new RegExp(`^ *${name}-axis(?: "([^"]*)")?(?: (\\S+) --> (\\S+))?`, "m").exec(chart) ?? [];
    return { label, ...(from !== undefined && { from: Number(from), to: Number(to) }) };
  };
  const title = /^ *title "(.*)"/m.exec(chart)?.[1];
  const [bars, lines, [names]] = [lists("bar"), lists("line"), lists("x-axis")];
  if (!title || (bars.length === 0 && lines.length === 0)) return chart;
  if (lines.length === 0 && names)
    return [`| ${title} | |`, "|---|---:|", ...names.map((name, n) => `| ${name} | ${bars[0][n]} |`)].join("\n");
  const { from = 0, to = 1 } = axis("x");
  const curve = (as: "line" | "points", name: string) => (values: string[], k: number, all: string[][]) => ({
    name: all.length === 1 ? name : `${name} ${k + 1}`,
    as,
    x: values.map((_, n) => (names ? Number(names[n]) : from + ((to - from) * n) / (values.length - 1))),
    y: values.map(Number),
  });
  const curves = [...bars.map(curve("points", "bars")), ...lines.map(curve("line", "line"))];
  const picture = plot(title, [{ title: "", x: axis("x"), y: axis("y"), curves }]);
  return `<img alt="${title}" src="data:image/svg+xml;base64,${Buffer.from(picture).toString("base64")}">`;
}

export interface SidebarGroup {
  text: string;
  items: { text: string; link: string }[];
}

const capital = (text: string): string => text[0].toUpperCase() + text.slice(1);

/** The groups and links of the README's tables of pages. */
export function sidebarOf(readme: string): SidebarGroup[] {
  const section = /^## Documentation\n([^]*?)(?=^## |$(?![^]))/m.exec(readme)?.[1] ?? "";
  return section
    .split(/\n(?=\| \w+ +\| +\|\n)/)
    .filter((table) => table.startsWith("| "))
    .map((table) => {
      const name = /^\| (\w+)/.exec(table)![1];
      const items = [...table.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, text, link]) => ({
        text: link.startsWith("docs/") ? capital(text) : text,
        link: linkOf(link),
      }));
      return { text: capital(name), items };
    });
}

/** Where a page stands in the site. */
export const linkOf = (path: string): string =>
  `/${asIndex(path)
    .replace(/index\.md$/, "")
    .replace(/\.md$/, "")}`;
