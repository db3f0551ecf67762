/** Facts by which ranks decide whether their GPUs write to each other's memory. */
export interface IpcFacts {
  /** Why not, by what this rank knows. */
  readonly problem?: string;
  readonly host?: string;
  /** The memory that this rank shares. */
  readonly handle?: Uint8Array;
}

/** Whether CUDA's IPC is switched off. */
export const isIpcOff = (env: NodeJS.ProcessEnv = process.env): boolean => env.ISOFORM_IPC === "off";

/**
 * Why GPUs of some ranks do not write to each other's memory; undefined where they may.
 * @param all the facts of each rank
 */
export function whyNotIpc(all: readonly IpcFacts[]): string | undefined {
  const problem = all.findIndex((facts) => facts.problem !== undefined);
  if (problem >= 0) return `rank ${problem}: ${all[problem].problem}`;
  const elsewhere = all.findIndex(({ host }) => host !== all[0].host);
  return elsewhere > 0 ? `ranks 0 and ${elsewhere} are on different nodes` : undefined;
}
