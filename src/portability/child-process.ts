import { spawn } from "node:child_process";
import { IsoformError } from "../base/errors.js";

/** How a process has ended, and all that it said. */
interface EndedProcess {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
}

/** Last lines of what a process said, which an error quotes. */
const QUOTED_LINES = 5;

/** The last lines of a process's standard error, without the name that isoform puts before them. */
export const lastWords = (errors: string): string =>
  errors.trim().split("\n").slice(-QUOTED_LINES).join("\n").replaceAll("isoform: ", "") || "it said nothing";

/**
 * Runs a program to its end; `stop` ends it by SIGTERM. Throws IsoformError where it cannot be started.
 * @param env variables of its environment that differ from this process's
 */
export function endedProcess(
  [command, ...words]: readonly string[],
  stop?: AbortSignal,
  env: Readonly<Record<string, string>> = {},
): Promise<EndedProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
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
