import { IsoformError, open, type Device } from "isoform";
import { compileModule, ModuleError } from "./compile.js";
import type { Problem, Reply, Request } from "./messages.js";
import { runModule } from "./run.js";

/* Compiles and runs what the visitor has written, where it may take as long as it likes: the page ends this worker if it must. */

const devices = new Map<string, Promise<Device>>();

function deviceOf(name: string): Promise<Device> {
  const device = devices.get(name) ?? open(name);
  devices.set(name, device);
  return device;
}

async function answer({ text, device }: Request): Promise<Reply> {
  try {
    const compiled = await compileModule(text);
    const { texts, flops, bytes } = compiled;
    const forms = { texts, flops, bytes };
    return device ? { forms, ran: await runModule(compiled, await deviceOf(device)) } : { forms };
  } catch (error) {
    return { problem: asProblem(error) };
  }
}

/** Errors that are not about the module are faults of this page, and go to the console. */
function asProblem(error: unknown): Problem {
  if (error instanceof ModuleError) return error.problem;
  if (!(error instanceof IsoformError)) console.error(error);
  return { message: (error as Error).message };
}

addEventListener("message", async ({ data }: MessageEvent<Request>) => postMessage(await answer(data)));
