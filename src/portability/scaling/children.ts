import { spawn } from "node:child_process";
import { IsoformError } from "../../base/errors.js";
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

/** Lines of standard error that an error quotes. */
const QUOTED_LINES = 5;

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
  const { code, output, errors } = await ended(words, stop);
  if (stop?.aborted) throw new Stopped();
  const shown = `${launcher.length > 0 ? `${launcher.join(" ")} ` : ""}isoform ${PART_COMMAND} (${part.what} on ${part.devices})`;
  if (code !== 0) {
    const said = errors.trim().split("\n").slice(-QUOTED_LINES).join("\n").replaceAll("isoform: ", "");
    throw new IsoformError(`${shown} ended with status ${code}: ${said || "it said nothing"}`);
  }
  const lines = output.trim().split("\n");
  try {
    return JSON.parse(lines.at(-1)!) as PartResults[P["what"]];
  } catch {
    throw new IsoformError(`${shown} printed no result, but: ${lines.at(-1)!.slice(0, 200) || "nothing"}`);
  }
}

interface Ended {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

function ended([command, ...words]: readonly string[], stop: AbortSignal | undefined): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { stdio: ["ignore", "pipe", "pipe"] });
    const end = (): void => void child.kill("SIGTERM");
    stop?.addEventListener("abort", end);
    if (stop?.aborted) end();
    let [output, errors] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
    child.on("error", (error) => {
      stop?.removeEventListener("abort", end);
      reject(new IsoformError(`cannot start ${command}: ${error.message}; is it installed, and on the PATH?`));
    });
    child.on("close", (code, signal) => {
      stop?.removeEventListener("abort", end);
      resolve({ code: code ?? 1, output, errors: signal ? `${errors}\nended by ${signal}` : errors });
    });
  });
}
