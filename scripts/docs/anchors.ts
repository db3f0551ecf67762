import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";

/** The pages of a built site by their addresses. */
export const pagesOfSite = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".html"))
      .map((file) => [`/${file.replaceAll("\\", "/")}`, readFileSync(folder + file, "utf8")]),
  );

/** Links to headings that are not there: vitepress itself looks at the pages alone. */
export function deadLinks(pages: ReadonlyMap<string, string>): string[] {
  const ids = new Map([...pages].map(([path, html]) => [path, new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))]));
  const dead = new Set<string>();
  for (const [path, html] of pages)
    for (const [, href] of html.matchAll(/ href="([^"]*#[^"]+)"/g)) {
      if (/^[a-z]+:/.test(href)) continue;
      const [file, anchor] = href.split("#");
      const target = file === "" ? path : posix.resolve(posix.dirname(path), file) + (file.endsWith("/") ? "/index.html" : "");
      if (!ids.get(target.replace("//", "/"))?.has(decodeURIComponent(anchor))) dead.add(`${path}: ${href}`);
    }
  return [...dead];
}
