import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";
import { writeWhole } from "../io/whole-file.js";
import { runningJob } from "../set/job.js";
import { speaks } from "../set/launched.js";
import { Outputs } from "./outputs.js";
import { clearProgress, progress } from "./progress.js";
import { SignalInterruption } from "./signals.js";

/** Makes the command line as the applications of one run see it: of several processes that work together, rank 0 prints and writes. */
export function makeShell(): Shell {
  return speaks() ? speaking() : silent();
}

/** Command line of the other ranks, which print and write nothing. */
function silent(): Shell {
  return {
    print: () => undefined,
    progress: () => ({ update: () => undefined, done: () => undefined }),
    checkOutputs: async () => undefined,
    writeFile: async () => undefined,
    endWith,
    interruption: () => new SignalInterruption(),
  };
}

function speaking(): Shell {
  const outputs = new Outputs();
  return {
    print(text) {
      clearProgress();
      process.stdout.write(`${text}\n`);
    },
    progress,
    checkOutputs: (files, inputs, replaced) => outputs.check(files, inputs, replaced),
    writeFile,
    endWith,
    interruption: () => new SignalInterruption(),
  };
}

function endWith(code: number): void {
  process.exitCode = code;
  runningJob()?.leaveTogether();
}

/** Throws IsoformError. */
async function writeFile(path: string, text: string): Promise<void> {
  await writeWhole(path, [text]).catch((error: Error) => {
    // The part after the comma names the system call and the temporary file.
    throw new IsoformError(`cannot write ${path}: ${error.message.split(",")[0]}`);
  });
}
