import { openCheckpoint } from "../../../apps/pic/results/checkpoint.js";

/** A checkpoint of `isoform pic` with all its values. */
export async function readRun(path: string) {
  const { state, ...others } = await openCheckpoint(path);
  return { ...others, state: await state() };
}
