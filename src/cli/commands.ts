import type { ApplicationModule, CommandModule } from "../p3/application.js";

/** The applications that come with the package; each is loaded only when it is wanted. */
export const APPLICATIONS = {
  gsr: {
    application: (): Promise<ApplicationModule> => import("../../apps/gsr/application.js"),
    command: (): Promise<CommandModule> => import("../../apps/gsr/command.js"),
  },
  stream: {
    application: (): Promise<ApplicationModule> => import("../../apps/stream/application.js"),
    command: (): Promise<CommandModule> => import("../../apps/stream/command.js"),
  },
};
