import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/*
 * Runs every compiled test, or those whose path contains one of the arguments: `npm test`, `npm test -- kernel/ ladder`.
 */
const root = dirname(fileURLToPath(import.meta.url));
const wanted = process.argv.slice(2).filter((a) => !a.startsWith("-"));
const flags = process.argv.slice(2).filter((a) => a.startsWith("-"));
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
  .filter((f) => f.endsWith(".test.js") && (!wanted.length || wanted.some((w) => f.includes(w))))
  .sort()
  .map((f) => join(root, f));
if (!files.length) {
  console.error(`no test file matches ${wanted.join(", ")}`);
  process.exit(2);
}
const { status, signal } = spawnSync(process.execPath, ["--test", ...flags, ...files], { stdio: "inherit" });
process.exit(signal ? 1 : (status ?? 1));
