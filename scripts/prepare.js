import { spawnSync } from "node:child_process";

/*
 * `npm run prepare`, which npx runs in a clone: builds, except in several processes that a launcher has started, as these would all write to one
 * dist/. It runs before there is a build, so it reads the launchers' variables itself; a test compares them with src/set/launched.ts.
 */

export const COUNTS = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/** Whether several processes run this. */
export const isLaunched = (env) => COUNTS.some((name) => Number(env[name]) > 1);

if (process.env.npm_lifecycle_event === "prepare" && !isLaunched(process.env))
  process.exitCode = spawnSync("npm run build", { shell: true, stdio: "inherit" }).status ?? 1;
