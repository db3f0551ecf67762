import { IsoformError, open, type Device } from "isoform";
import { compileModule } from "./compile.js";
import type { Forms, ProgramProblem, Reply, Request } from "./messages.js";
import { ModuleError } from "./module-error.js";
import { runModule } from "./run.js";

/* Compiles and runs what the visitor has written, where it may take as long as it likes: the page ends this worker if it must. */

const devices = new Map<string, Promise<Device>>();

function deviceOf(name: string): Promise<Device> {
  const device = devices.get(name) ?? open(name, { f64: "emulate" });
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

async function answer(request: Request): Promise<Reply> {
  return request.language === "fortran" ? answerFortran(request) : answerModule(request);
}

async function answerModule({ text, device }: Request): Promise<Reply> {
  let file = "";
  try {
    const compiled = await compileModule(text);
    ({ file } = compiled.kernel.location);
    const forms = formsOf(compiled);
    return device ? { forms, ran: await runModule(compiled, await deviceOf(device)) } : { forms };
  } catch (error) {
    return failed(error, device, file);
  }
}

async function answerFortran(request: Request): Promise<Reply> {
  const { device } = request;
  try {
    const { compileFortran, runFortran } = await import("./fortran.js");
    const compiled = await compileFortran(request);
    const forms = formsOf(compiled);
    return device ? { forms, ran: await runFortran(compiled, await deviceOf(device)) } : { forms };
  } catch (error) {
    return failed(error, device);
  }
}

const formsOf = ({ texts, work }: Forms): Forms => ({ texts, work });

function failed(error: unknown, device?: string, file?: string): Reply {
  // A device may be lost, or not even there.
  if (device) forget(device);
  return { problems: asProblems(error, file) };
}

/** Errors that are not about the program are faults of this page, and go to the console. `file` is what a module was loaded as. */
function asProblems(error: unknown, file = ""): readonly ProgramProblem[] {
  if (error instanceof ModuleError) return error.problems;
  if (!(error instanceof IsoformError)) console.error(error);
  const { message } = error as Error;
  return [{ message: file ? message.replaceAll(file, "the playground") : message }];
}

addEventListener("message", async ({ data }: MessageEvent<Request>) => postMessage(await answer(data)));
