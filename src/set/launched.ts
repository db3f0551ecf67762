/** Processes started together, as the launcher's variables tell. */
export interface Launched {
  /** Command that users type: `mpirun`. */
  readonly launcher: string;
  /** The MPI that it belongs to, if the variables tell. */
  readonly kind?: "openmpi" | "mpich";
  readonly count: number;
  readonly rank: number;
}

/**
 * Variables of launchers; the first whose count is set tells. SLURM_NTASKS is not among them: inside an allocation it is set for a single
 * process, too.
 */
export const LAUNCH_VARIABLES = [
  { launcher: "mpirun", kind: "openmpi", count: "OMPI_COMM_WORLD_SIZE", rank: "OMPI_COMM_WORLD_RANK" },
  { launcher: "mpirun", kind: "mpich", count: "PMI_SIZE", rank: "PMI_RANK" },
  { launcher: "srun", kind: undefined, count: "SLURM_STEP_NUM_TASKS", rank: "SLURM_PROCID" },
] as const;

/** Set to 1 (`--alone`), each of several processes works by itself, and means to. */
const ALONE = "ISOFORM_ALONE";

/** This process and the others that its launcher has started; undefined where no launcher's variable is set. */
export function launched(env: NodeJS.ProcessEnv = process.env): Launched | undefined {
  for (const { launcher, kind, count, rank } of LAUNCH_VARIABLES) {
    const processes = Number(env[count] || NaN);
    if (Number.isInteger(processes) && processes > 0) return { launcher, kind, count: processes, rank: Number(env[rank] ?? 0) };
  }
  return undefined;
}

/** Whether processes that were started together each work by themselves. */
export const isAlone = (env: NodeJS.ProcessEnv = process.env): boolean => env[ALONE] === "1";

/** Makes this process, and those that it starts, work by itself. */
export const workAlone = (): void => void (process.env[ALONE] = "1");

/** Whether this process prints and writes files: rank 0, and any that works alone. */
export const speaks = (env: NodeJS.ProcessEnv = process.env): boolean => isAlone(env) || (launched(env)?.rank ?? 0) === 0;
