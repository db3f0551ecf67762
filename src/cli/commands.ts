import { existsSync, readdirSync } from "node:fs";
import type { ApplicationModule, CommandModule } from "../portability/application.js";
import type { SkeletonModule } from "../skeleton/settings.js";

/** Loaders of the parts of an application. */
export interface Registered {
  readonly command: () => Promise<CommandModule>;
  /** For `isoform assess`; examples have none. */
  readonly application?: () => Promise<ApplicationModule>;
  /** For `isoform explain`, if it has a sequence of containers. */
  readonly skeleton?: () => Promise<SkeletonModule>;
}

const FOLDER = new URL("../../apps/", import.meta.url);

/** The loader of a file of an application's folder, if it is there. */
function part<Module>(name: string, file: string): (() => Promise<Module>) | undefined {
  const url = new URL(`${name}/${file}.js`, FOLDER);
  return existsSync(url) ? () => import(url.href) as Promise<Module> : undefined;
}

/**
 * The applications that come with the package: folders of apps/ with a `command.ts`, and perhaps an `application.ts` and an `explained.ts`. Each is loaded only when
 * it is wanted.
 */
export const APPLICATIONS: Readonly<Record<string, Registered>> = Object.fromEntries(
  readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
    .flatMap((name): [string, Registered][] => {
      const command = part<CommandModule>(name, "command");
      return command ? [[name, { command, application: part(name, "application"), skeleton: part(name, "explained") }]] : [];
    }),
);
