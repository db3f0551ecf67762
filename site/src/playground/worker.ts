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

function forget(name: string): void {
  devices
    .get(name)
    ?.then((device) => device.close())
    .catch(() => {});
  devices.delete(name);
}

async function answer({ text, device }: Request): Promise<Reply> {
  let file = "";
  try {
    const compiled = await compileModule(text);
    const { texts, flops, bytes, kernel } = compiled;
    ({ file } = kernel.location);
    const forms = { texts, flops, bytes };
    return device ? { forms, ran: await runModule(compiled, await deviceOf(device)) } : { forms };
  } catch (error) {
    // A device may be lost, or not even there.
    if (device) forget(device);
    return { problem: asProblem(error, file) };
  }
}

/** Errors that are not about the module are faults of this page, and go to the console. `file` is what the module was loaded as. */
function asProblem(error: unknown, file: string): Problem {
  if (error instanceof ModuleError) return error.problem;
  if (!(error instanceof IsoformError)) console.error(error);
  const { message } = error as Error;
  return { message: file ? message.replaceAll(file, "the playground") : message };
}

addEventListener("message", async ({ data }: MessageEvent<Request>) => postMessage(await answer(data)));
