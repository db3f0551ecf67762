import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { MutableModule } from "./sites.js";

/** A part of a script and how often it was executed: V8's block coverage, as NODE_V8_COVERAGE writes it. */
interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}
interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

/** For each module's path, which of its changes were executed: one character "0" or "1" each. */
export type Executed = Readonly<Record<string, string>>;

/**
 * Worker threads may end before the engine writes their coverage. A module that they load counts as executed throughout in each
 * process that loads it.
 */
const BY_WORKERS = /^dist\/src\/device\/cpu\/pool/;

/** The innermost range around a position decides. Ranges are nested, an outer one before its inner ones of the same start. */
function countAt(ranges: readonly Range[], position: number): number {
  let innermost: Range | undefined;
  for (const range of ranges)
    if (range.startOffset <= position && position < range.endOffset)
      if (innermost === undefined || range.endOffset - range.startOffset <= innermost.endOffset - innermost.startOffset) innermost = range;
  return innermost?.count ?? 0;
}

/**
 * Changes that a run executed, from the coverage files of its processes in `folder` and the texts of functions that it asked for.
 * `root` is the repository that ran.
 */
export function executedIn(folder: string, texts: readonly string[], root: string, modules: readonly MutableModule[]): Executed {
  const found = new Map<string, boolean[]>();
  const byUrl = new Map(modules.map((module) => [pathToFileURL(join(root, module.path)).href, module]));
  const flagsOf = ({ path, mutations }: MutableModule): boolean[] => {
    let flags = found.get(path);
    if (!flags) found.set(path, (flags = mutations.map(() => false)));
    return flags;
  };
  for (const file of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, file), "utf8")) as { result: readonly Script[] };
    for (const { url, functions } of result) {
      const module = byUrl.get(url);
      if (!module) continue;
      const flags = flagsOf(module);
      const ranges = functions.flatMap((each) => each.ranges);
      const all = BY_WORKERS.test(module.path);
      for (const [k, { executedAt }] of module.mutations.entries()) flags[k] ||= all || countAt(ranges, executedAt) > 0;
    }
  }
  for (const text of new Set(texts))
    for (const module of modules)
      for (let at = module.code.indexOf(text); at >= 0; at = module.code.indexOf(text, at + 1))
        for (const [k, { from }] of module.mutations.entries()) if (from >= at && from < at + text.length) flagsOf(module)[k] = true;
  return Object.fromEntries([...found].map(([path, flags]) => [path, flags.map(Number).join("")]));
}
