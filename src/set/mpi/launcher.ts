import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** Programs that start ranks, or that stand between: Open MPI's, MPICH's and Slurm's. */
const LAUNCHERS = /^(mpirun|mpiexec|orterun|orted|prterun|prted|prte|hydra_pmi_proxy|pmi_proxy|slurmstepd)\b/;
/** Parents to look at: npm, npx and shells stand between. */
const MOST_PARENTS = 16;

/** Path of the launcher's program among the parents of this process; undefined where there is none, or no /proc. */
export function findLauncher(pid = process.ppid): string | undefined {
  for (let parents = 0; parents < MOST_PARENTS && pid > 1; parents++) {
    try {
      const program = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, "");
      if (LAUNCHERS.test(basename(program))) return program;
      pid = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
    } catch {
      return undefined;
    }
  }
  return undefined;
}
