import { openByDefault } from "../../../src/device/open.js";
import { failureOf } from "../../../src/cli/failure.js";
import { makeProgram } from "../../../src/cli/make-program.js";

/*
 * Runs commands one after the other in one process, as `src/cli/main.ts` runs one, and tells how each ended.
 */

export interface Ended {
  readonly code: number;
  readonly stderr: string;
}

async function run(words: readonly string[]): Promise<Ended> {
  let stderr = "";
  process.exitCode = undefined;
  process.stdout.write = () => true;
  process.stderr.write = (text: string | Uint8Array) => {
    stderr += String(text);
    return true;
  };
  try {
    await (await makeProgram(words)).parseAsync([...words], { from: "user" });
    return { code: Number(process.exitCode ?? 0), stderr };
  } catch (error) {
    const { text = "", code } = failureOf(error, false);
    return { code, stderr: stderr + text };
  } finally {
    openByDefault({});
  }
}

process.on("message", async (words: string[]) => process.send!(await run(words)));
process.on("uncaughtException", (error) => process.send!({ code: 70, stderr: `uncaught ${error.stack}` }));
process.send!("ready");
