import { prepareTogether } from "../../device/cpu/compile-aside.js";
import type { Launch, Precision } from "../../device/device.js";
import type { View } from "../../device/memory/view.js";
import { byLocal } from "../../set/index.js";
import { exchangeNow } from "../../set/exchange.js";
import { resultsOf, type Container } from "../grid/grid.js";
import type { HaloCopy, Round, Rounds } from "../grid/parts.js";
import { digestible } from "./digestible.js";
import { collect, roundsOf, type Collection } from "./reductions.js";

/** Plans of one container that are kept, for fields that are swapped back and forth. */
const KEPT = 4;

/** A container's launches on all members for the memory that its fields and scalars had. */
interface Plan {
  readonly precision: Precision;
  /** Sum of the generations of all grids whose fields are used; none of them ever falls. */
  readonly generation: number;
  readonly memory: readonly (readonly View[])[];
  /** By member of this process. */
  readonly launches: readonly (readonly Launch[])[];
  readonly collections: readonly Collection[];
  /** In place of launches and collections. */
  readonly inRounds?: Rounds;
}

/** Runs containers one at a time, each to the end: the plainest executor. */
export class Runs {
  private readonly plans = new Map<Container, Plan[]>();

  /** @param precision default: the precision of the first member's device */
  async run(container: Container, precision = container.grid.set.locals[0].device.precision): Promise<void> {
    const { set } = container.grid;
    const { particles } = container;
    if (particles?.needsSort) await particles.species.sort();
    const { launches, collections, inRounds } = this.plan(container, precision);
    const copy = async (copies: readonly HaloCopy[]): Promise<void> => {
      if (copies.length === 0) return;
      await finish();
      exchangeNow(set, copies, container.name, `container "${container.name}"`);
      await finish();
    };
    const finish = () => Promise.all(set.locals.map((member) => member.queue(0).finish()));

    const runEach = async (rounds: readonly Round[]): Promise<void> => {
      for (const round of rounds) {
        for (const member of set.locals) for (const launch of round.launches[member.index]) member.queue(0).submit(launch);
        await copy(round.copies);
      }
    };

    const stale = new Set(container.uses.filter(({ field, offsets }) => offsets.length > 0 && !field.coherent).map(({ field }) => field));
    const packed = [...stale].flatMap((field) => field.grid.haloRounds?.(field) ?? []);
    if (packed.length === 0) await copy([...stale].flatMap((field) => field.grid.halo(field)));
    for (const halos of packed) {
      await runEach(halos.rounds);
      await finish();
      halos.free();
    }
    for (const field of stale) field.coherent = true;
    for (const { field, written } of container.uses) if (written) field.noteWrite();
    if (particles?.moves) particles.species.coherent = false;
    const collected: Round[] = [{ launches, copies: [] }, ...roundsOf(collections, set.members.length)];
    await runEach(inRounds?.rounds ?? collected);
    await finish();
    await particles?.species.check(`container "${container.name}"`);
  }

  private plan(container: Container, precision: Precision): Plan {
    const { grid } = container;
    for (const { field } of container.uses) field.grid.layOut();
    const scalars = [...container.scalars.values(), ...resultsOf(container)];
    const memory = [...container.uses.map(({ field }) => field.storage), ...scalars.map((scalar) => scalar.views)];
    const plans = this.plans.get(container) ?? [];
    this.plans.set(container, plans);
    const generation = [grid, ...container.uses.map(({ field }) => field.grid)].reduce((sum, { generation }) => sum + generation, 0);
    const known = plans.find(
      (plan) => plan.precision === precision && plan.generation === generation && plan.memory.every((views, n) => views === memory[n]),
    );
    if (known) return known;
    grid.set.ranks?.requireAlike(`container "${container.name}"`, digestible([container], precision));
    const keep = (made: Plan): Plan => {
      plans.push(made);
      if (plans.length > KEPT) release(plans.shift()!);
      return made;
    };
    if (container.inRounds) {
      const inRounds = container.inRounds(container, precision);
      return keep({ precision, generation, memory, launches: [], collections: [], inRounds });
    }
    const collections = [...container.reductions.keys()].map((param) => collect(container, param, precision));
    const prepare = (m: number): readonly Launch[] => {
      const reductions = Object.fromEntries(collections.map(({ param, partials }) => [param, partials[m]]));
      return grid.prepare(container, m, "standard", { precision, reductions });
    };
    const launches = prepareTogether(() => byLocal(grid.set, (_, m) => prepare(m)));
    return keep({ precision, generation, memory, launches, collections });
  }

  free(): void {
    for (const plans of this.plans.values()) plans.forEach(release);
    this.plans.clear();
  }
}

function release({ launches, collections, inRounds }: Plan): void {
  inRounds?.free();
  launches.forEach((list) => list.forEach((launch) => launch.free()));
  for (const collection of collections) collection.free();
}
