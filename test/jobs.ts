import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NODE_DEVICES } from "./devices.js";
import { ENGINE, EVERYWHERE, nameOf, NODE_TIERS, tierOf, within, type Tier } from "./tiers.js";

/** One run of a test file for a tier. */
export interface Job {
  /** Path of the file below the folder of tests, without the ending. */
  readonly name: string;
  readonly tier: Tier;
  /** Value of ISOFORM_TEST_DEVICES, unless the caller has set it. */
  readonly devices?: string;
}

/** Names of the compiled test files of a repository whose source still exists, in order. */
export function compiledTests(repository: string): string[] {
  return (
    readdirSync(join(repository, "dist/test"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".test.js"))
      .map(nameOf)
      // An earlier compilation may have left files whose source was moved or deleted.
      .filter((name) => existsSync(join(repository, "test", `${name}.test.ts`)))
      .sort()
  );
}

/** Jobs of a file in all tiers; the one of its own tier comes first. */
export function jobsOf(name: string): Job[] {
  const tier = tierOf(name);
  const own: Job = { name, tier, devices: NODE_TIERS.includes(tier) ? NODE_DEVICES.join(",") : undefined };
  return within(name, EVERYWHERE) ? [own, { name, tier: "backends", devices: "others" }] : [own];
}

/**
 * Compilers that optimise little: long kernels take GCC a quarter of the time, and all kernels take PoCL half. Strict values stay as they are.
 * With all optimisations, as users have them, run conformance cases by GCC, and random kernels and the backends' own tests by both.
 */
const QUICK_GCC = fileURLToPath(new URL("../../test/quick/gcc", import.meta.url));
const QUICK_POCL = "-cl-opt-disable";
const hasGcc = /Free Software Foundation/.test(spawnSync("gcc", ["--version"], { encoding: "utf8" }).stdout ?? "");

/** Options of a job's node, and of what it starts: V8 optimises late. What depends on the engine runs as for users. */
const QUICK_V8 = `--require ${JSON.stringify(fileURLToPath(new URL("../../test/quick/v8.cjs", import.meta.url)))}`;

/** Environment variables of a job. `isQuick`: someone waits for the result, so fewer random kernels run. */
export const variablesOf = ({ name, devices }: Job, isQuick: boolean): Record<string, string> => ({
  ...(devices !== undefined && { ISOFORM_TEST_DEVICES: devices }),
  ...(isQuick && { ISOFORM_RANDOM_RUNS: "100" }),
  ...(!within(name, ENGINE) && !/^(random|soak)\//.test(name) && { NODE_OPTIONS: QUICK_V8 }),
  ...(!/^(random|device\/opencl)\//.test(name) && { POCL_EXTRA_BUILD_FLAGS: QUICK_POCL }),
  ...(hasGcc && /^(apps|domain|patterns|portability|set|skeleton)\//.test(name) && { CC: QUICK_GCC }),
});
