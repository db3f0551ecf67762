import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The command's entry file. */
export const main = fileURLToPath(new URL("../../src/cli/main.js", import.meta.url));

/** Runs `isoform` with these words to its end; `env` is set beside what is set already. */
export function isoform(
  words: readonly string[],
  cwd?: string,
  env: Readonly<Record<string, string>> = {},
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [main, ...words], { cwd, encoding: "utf8", timeout: 300_000, env: { ...process.env, ...env } });
}
