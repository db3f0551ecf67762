import { IsoformError } from "../../base/errors.js";
import { endedProcess, lastWords } from "../child-process.js";
import { Stopped } from "../stop.js";
import type { MeasuringTask, PartResults } from "./parts.js";
import { PART_COMMAND } from "./request.js";

/** How parts of a study become processes. */
export interface Children {
  /** Program and words that run `isoform`. */
  readonly program: readonly string[];
  /** Command that starts `{n}` of them, for parts that span processes. */
  readonly launch?: string;
  readonly stop?: AbortSignal;
}

/**
 * Measures one part in a process of its own; with `processes`, in that many under the launcher.
 * @throws IsoformError with what the process said where it failed, Stopped where the study was stopped
 */
export async function measureApart<P extends MeasuringTask>(
  part: P,
  { program, launch, stop }: Children,
  processes?: number,
): Promise<PartResults[P["what"]]> {
  const launcher = processes !== undefined && launch !== undefined ? launch.replaceAll("{n}", String(processes)).split(/\s+/) : [];
  const words = [...launcher.filter((word) => word !== ""), ...program, PART_COMMAND, JSON.stringify(part)];
  const { code, output, errors } = await endedProcess(words, stop);
  if (stop?.aborted) throw new Stopped();
  const shown = `${launcher.length > 0 ? `${launcher.join(" ")} ` : ""}isoform ${PART_COMMAND} (${part.what} on ${part.devices})`;
  if (code !== 0) throw new IsoformError(`${shown} ended with status ${code}: ${lastWords(errors)}`);
  const lines = output.trim().split("\n");
  try {
    return JSON.parse(lines.at(-1)!) as PartResults[P["what"]];
  } catch {
    throw new IsoformError(`${shown} printed no result, but: ${lines.at(-1)!.slice(0, 200) || "nothing"}`);
  }
}
