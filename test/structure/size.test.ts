import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { lowered, type Counts } from "./left.js";

/*
 * Functions and files of src keep to size-limits.json, but for as many of a file as LEFT counts. The counts only shrink: after a change
 * `node dist/test/structure/size.test.js --update` lowers them.
 */

const LEFT = "test/structure/size-left.json";
const UPDATE = "node dist/test/structure/size.test.js --update";

/** A function or a file that is over a limit. */
interface Finding {
  readonly file: string;
  readonly rule: string;
  /** Line and message of the linter. */
  readonly text: string;
}

interface Report {
  readonly diagnostics: readonly {
    readonly filename: string;
    readonly code: string;
    readonly message: string;
    readonly labels: readonly { readonly span: { readonly line: number } }[];
  }[];
}

function found(): Finding[] {
  const args = ["node_modules/oxlint/bin/oxlint", "-c", "test/structure/size-limits.json", "--format=json", "src"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  assert.equal(stderr, "");
  return (JSON.parse(stdout) as Report).diagnostics.map(({ filename, code, message, labels: [{ span }] }) => ({
    file: filename.replaceAll("\\", "/"),
    rule: code.replace(/^eslint\((.*)\)$/, "$1"),
    text: `${span.line}: ${message}`,
  }));
}

function countsOf(findings: readonly Finding[]): Counts {
  const counts: Record<string, Record<string, number>> = {};
  for (const { file, rule } of findings) {
    counts[file] ??= {};
    counts[file][rule] = (counts[file][rule] ?? 0) + 1;
  }
  return counts;
}

/** Differences from the counts that are left, a message each. */
function differences(findings: readonly Finding[], left: Counts): string[] {
  const now = countsOf(findings);
  return [...new Set([...Object.keys(left), ...Object.keys(now)])].sort().flatMap((file) =>
    [...new Set([...Object.keys(left[file] ?? {}), ...Object.keys(now[file] ?? {})])].sort().flatMap((rule) => {
      const [before, count] = [left[file]?.[rule] ?? 0, now[file]?.[rule] ?? 0];
      if (count < before) return [`${file}: ${count} over the limit of ${rule}, ${before} before; lower the count by ${UPDATE}`];
      if (count === before) return [];
      const texts = findings.filter((each) => each.file === file && each.rule === rule).map(({ text }) => `  ${file}:${text}`);
      return [`${file}: ${count} over the limit of ${rule}, ${before} before; take the new one apart:`, ...texts];
    }),
  );
}

const readLeft = (): Counts => JSON.parse(readFileSync(LEFT, "utf8")) as Counts;

if (process.argv.includes("--update")) writeFileSync(LEFT, `${JSON.stringify(lowered(countsOf(found()), readLeft()), null, 2)}\n`);

describe("sizes of functions and files", () => {
  it("are in their limits, but for the ones that are left", () => {
    const problems = differences(found(), readLeft());
    assert.ok(problems.length === 0, problems.join("\n"));
  });
  it("are compared by file and rule, and lowered", () => {
    const over = (file: string, rule: string): Finding => ({ file, rule, text: "3: too much" });
    const findings = [over("src/a.ts", "complexity"), over("src/a.ts", "complexity"), over("src/b.ts", "max-params")];
    assert.deepEqual(differences(findings, { "src/a.ts": { complexity: 2 }, "src/b.ts": { "max-params": 1 } }), []);
    assert.deepEqual(differences(findings, { "src/a.ts": { complexity: 3 } }), [
      `src/a.ts: 2 over the limit of complexity, 3 before; lower the count by ${UPDATE}`,
      "src/b.ts: 1 over the limit of max-params, 0 before; take the new one apart:",
      "  src/b.ts:3: too much",
    ]);
    const left = { "src/a.ts": { complexity: 3 }, "src/b.ts": { "max-lines": 1 } };
    assert.deepEqual(lowered(countsOf(findings), left), { "src/a.ts": { complexity: 2 } });
  });
});
