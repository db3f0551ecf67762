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

/** The applications that come with the package; each is loaded only when it is wanted. */
export const APPLICATIONS: Readonly<Record<string, Registered>> = {
  elasticity: {
    application: () => import("../../apps/elasticity/application.js"),
    command: () => import("../../apps/elasticity/command.js"),
    skeleton: () => import("../../apps/elasticity/elasticity.js"),
  },
  gsr: {
    application: () => import("../../apps/gsr/application.js"),
    command: () => import("../../apps/gsr/command.js"),
  },
  heat: {
    command: () => import("../../apps/heat/command.js"),
    skeleton: () => import("../../apps/heat/heat.js"),
  },
  lbm: {
    application: () => import("../../apps/lbm/application.js"),
    command: () => import("../../apps/lbm/command.js"),
    skeleton: () => import("../../apps/lbm/cavity.js"),
  },
  life: {
    command: () => import("../../apps/life/command.js"),
    skeleton: () => import("../../apps/life/life.js"),
  },
  "navier-stokes": {
    application: () => import("../../apps/navier-stokes/application.js"),
    command: () => import("../../apps/navier-stokes/command.js"),
    skeleton: () => import("../../apps/navier-stokes/explained.js"),
  },
  pic: {
    application: () => import("../../apps/pic/application.js"),
    command: () => import("../../apps/pic/command.js"),
  },
  poisson: {
    application: () => import("../../apps/poisson/application.js"),
    command: () => import("../../apps/poisson/command.js"),
    skeleton: () => import("../../apps/poisson/poisson.js"),
  },
  stream: {
    application: () => import("../../apps/stream/application.js"),
    command: () => import("../../apps/stream/command.js"),
  },
};
