import { spawn } from "node:child_process";
import { once } from "node:events";
import { main } from "../cli/isoform.js";

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderr: string;
  readonly seconds: number;
}

/** Ends with a signal after so long. */
export interface Kill {
  readonly signal: NodeJS.Signals;
  readonly after: number;
}

/** Runs `isoform` to its end, or until it is killed. */
export async function isoformUntil(words: readonly string[], cwd: string, kill?: Kill): Promise<Ended> {
  const begin = performance.now();
  const child = spawn(process.execPath, [main, ...words], { cwd, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (text) => (stderr += String(text)));
  const timer = kill && setTimeout(() => child.kill(kill.signal), 1e3 * kill.after);
  // What does not listen to SIGTERM any more is ended all the same, and seen to have been.
  const last = setTimeout(() => child.kill("SIGKILL"), 100_000);
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  clearTimeout(last);
  return { code, signal, stderr, seconds: (performance.now() - begin) / 1e3 };
}
