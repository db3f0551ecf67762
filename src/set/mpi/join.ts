import { readFileSync } from "node:fs";
import { IsoformError } from "../../base/errors.js";
import { agreedByAll } from "../job.js";
import { CPU_MEMORY } from "../../device/memory/view.js";
import { JobRanks } from "./job-ranks.js";
import type { Joined } from "../joined.js";
import type { Communicator } from "./communicator.js";
import { joinMpi } from "./job.js";
import { ownDevices } from "./own-devices.js";
import { together } from "../together.js";
import { MpiTransport } from "./transport.js";

/** Seconds after which a wait for other ranks ends the job. */
const PATIENCE = 60;

/** Joins the job of a specification without its `mpi:`. Throws IsoformError, on all ranks alike. */
export async function join(spec: string, patience = PATIENCE): Promise<Joined> {
  const job = await joinMpi();
  const [world, blocking, node] = [job.ranks({ patience }), job.ranksThatBlock({ patience }), job.ranksOfNode({ patience })];
  await requireAlike(world, { "version of isoform": packageVersion(), "version of Node": process.version, devices: spec });
  return {
    ranks: new JobRanks(world, blocking, node),
    together: (work, undo) => together(world, work, undo),
    ownSpec: () => ownDevices(spec, node),
    members: (own) => world.exchange(own, `the members of mpi:${spec}`),
    way: async (devices, link) => {
      const apart = await world.exchange(
        devices.some(({ memory }) => memory !== CPU_MEMORY) || link === "nccl",
        "devices apart from the host",
      );
      if (!apart.includes(true) || world.count === 1) return {};
      const { connect } = await import("../nccl/join.js");
      return connect({ world, blocking }, devices, link, { patience, job });
    },
    transport: (members) =>
      new MpiTransport(
        world,
        members.flatMap((each, rank) => Array<number>(each.length).fill(rank)),
      ),
  };
}

/** Compares facts of all ranks. Throws IsoformError on all of them for one that differs, naming ranks. */
async function requireAlike(world: Communicator, facts: Readonly<Record<string, string>>): Promise<void> {
  const all = await world.exchange(facts, "devices(...)");
  for (const name of Object.keys(facts)) {
    const other = all.findIndex((each) => each[name] !== all[0][name]);
    if (other > 0)
      throw agreedByAll(
        new IsoformError(
          `the ${name} of rank 0, "${all[0][name]}", and of rank ${other}, "${all[other][name]}", differ: run the same program with the same options on all ranks`,
        ),
      );
  }
}

const packageVersion = (): string =>
  (JSON.parse(readFileSync(new URL("../../../../package.json", import.meta.url), "utf8")) as { version: string }).version;
