import { isAbsolute, resolve } from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { type Command, Option } from "commander";
import { IsoformError } from "../base/errors.js";
import type { Shell } from "../portability/application.js";

/** Adds `--backend` to all commands: modules that register backends (docs/backend-guide.md), imported before anything else is done. */
export function addBackends(program: Command, shell: Shell): void {
  program
    .addOption(
      new Option("--backend <modules>", "import modules that register backends, separated by commas; may be repeated")
        .env("ISOFORM_BACKENDS")
        .argParser((text: string, before: readonly string[] = []) => [...before, ...text.split(",").filter((name) => name !== "")]),
    )
    .hook("preAction", async (command) => {
      const { backend: modules = [] } = command.opts<{ backend?: readonly string[] }>();
      await shell.checkOutputs({}, { backend: modules.filter(isPath) });
      for (const module of modules) await load(module);
    });
}

const isPath = (module: string): boolean => module.startsWith(".") || isAbsolute(module);

/** Imports a file of the working directory, or a package that is installed there. Throws IsoformError. */
async function load(module: string): Promise<void> {
  try {
    await import(pathToFileURL(isPath(module) ? resolve(module) : createRequire(resolve("package.json")).resolve(module)).href);
  } catch (error) {
    if (error instanceof IsoformError) throw error;
    throw new IsoformError(`the backend ${module} could not be loaded: ${(error as Error).message.split("\n")[0]}`);
  }
}
