import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vitepress";
import { deadLinks, pagesOfSite } from "../../dist/scripts/docs/anchors.js";
import { entryPoints } from "../../dist/scripts/docs/entry-points.js";
import { writeReference } from "./reference.js";
import { linkOf, pagesOf, sidebarOf } from "../../dist/scripts/docs/pages.js";

/* `npm run docs`, after a build: the pages of the repository and the reference of the API, as a site in dist/docs-site. Fails on dead links. */

const root = fileURLToPath(new URL("../../", import.meta.url));
const staged = `${root}dist/docs-pages/`;
const site = `${root}dist/docs-site/`;

rmSync(staged, { recursive: true, force: true });
const write = (path, text) => {
  mkdirSync(dirname(staged + path), { recursive: true });
  writeFileSync(staged + path, text);
};

const pages = pagesOf(root);
for (const { path, text } of pages) write(path, text);
await writeReference(root, `${staged}api`);

const readme = pages.find(({ path }) => path === "index.md");
// An entry point with namespaces has a folder of pages
const pageOf = (name) => (existsSync(`${staged}api/${name}/index.md`) ? `api/${name}/index.md` : `api/${name}.md`);
const reference = [...entryPoints(root).keys()].map((text) => ({ text, link: linkOf(pageOf(text)) }));
const config = {
  title: "Isoform",
  description: "Performance portability from TypeScript",
  // None: browsers would ask for /favicon.ico.
  head: [["link", { rel: "icon", href: "data:," }]],
  outDir: site,
  cacheDir: `${root}dist/docs-cache`,
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Getting started", link: "/docs/getting-started" },
      { text: "Examples", link: "/examples/" },
      { text: "Reference", link: "/api/" },
      { text: "Changes", link: "/CHANGELOG" },
    ],
    sidebar: [...sidebarOf(readme.text), { text: "Reference", items: reference, collapsed: true }],
    outline: [2, 3],
  },
};
// Headings have the names in addresses that they have on a code host
write(
  ".vitepress/config.mjs",
  `const slugify = (heading) => heading.trim().toLowerCase().replace(/[^\\p{L}\\p{N} _-]/gu, "").replaceAll(" ", "-");
export default {
  ...${JSON.stringify(config)},
  markdown: { anchor: { slugify } },
  vite: { build: { chunkSizeWarningLimit: 2000 } },
};
`,
);
await build(staged);
const dead = deadLinks(pagesOfSite(site));
if (dead.length > 0) throw new Error(`links to headings that are not there:\n${dead.join("\n")}`);
console.log(`${pages.length} pages and the reference of ${reference.length} entry points: dist/docs-site/index.html`);
