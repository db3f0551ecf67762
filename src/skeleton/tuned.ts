import { GRID_KINDS, type GridKind } from "../domain/grid/options.js";
import { isRefusal, type Trial } from "./tuning/choice.js";
import type { GridSettings, Resolved, Storage } from "./settings.js";
import type { Skeleton } from "./skeleton.js";

/** An application with its data on the devices, ready to iterate. */
export interface Tunable {
  readonly skeleton: Skeleton;
  /** Gives back all of its memory. */
  free(): void;
}

/**
 * The name of the fastest of several ways to do the same work: kinds of grids, layouts, sets of devices. Each is made, measured and
 * freed, one after the other; one that is refused, or for which memory does not suffice, does not count. What was found for the same `key`
 * before is taken over, so the key must tell the problem, its size and the devices.
 * @throws DeviceError or LaunchError where there is no way that can run
 */
export async function fastest<K extends string>(
  key: readonly string[],
  ways: Readonly<Record<K, () => Trial | Promise<Trial>>>,
): Promise<K> {
  const { fastestWay } = await import("./tuning/auto.js");
  return (await fastestWay(key, ways)).best;
}

const LAYOUTS: readonly Storage["layout"][] = ["soa", "aos"];

/**
 * Makes an application with the kind of grid and the layout that its settings ask for. Where they leave one to measurement, each
 * candidate is made, iterated and freed, and the fastest is made anew; what was found for the same sequence, extents, active cells
 * and devices before is taken over. A candidate that cannot be made does not count. `explain` of the skeleton tells what was found.
 * @param kinds grids that the application can do with; all where absent
 * @throws what the first candidate has thrown, where none can be made
 */
export async function tuned<A extends Tunable, S extends GridSettings>(
  settings: S,
  make: (settings: Resolved<S>) => A | Promise<A>,
  kinds: readonly GridKind[] = GRID_KINDS,
): Promise<A> {
  const candidates = candidatesOf(settings, kinds);
  const makeOne = async (storage: Storage): Promise<A> => make({ ...settings, ...storage });
  const [first, ...others] = candidates;
  if (others.length === 0) return makeOne(first);

  let ready = await firstThatCan(candidates, makeOne);
  let spare: A | undefined = ready.made;
  const one = ready.made.skeleton.fields.every(({ cardinality }) => cardinality === 1);
  // Fields of one component lie alike in both layouts.
  const rest = candidates.filter(({ layout }) => !one || layout === ready.storage.layout);
  if (rest.length === 1) return ready.made;
  const ways = Object.fromEntries(
    rest.map((storage) => [
      nameOf(storage),
      async () => {
        if (storage !== ready.storage || !spare) return makeOne(storage);
        const taken = spare;
        spare = undefined;
        return taken;
      },
    ]),
  );
  const { fastestWay } = await import("./tuning/auto.js");
  const choice = await fastestWay(await ready.made.skeleton.timingKey(), ways);
  const best = rest.find((storage) => nameOf(storage) === choice.best)!;
  if (best !== ready.storage || !spare) {
    spare?.free();
    ready = { storage: best, made: await makeOne(best) };
  }
  ready.made.skeleton.noteStorage(choice);
  return ready.made;
}

const nameOf = ({ grid, layout }: Storage): string => `${grid} ${layout}`;

function candidatesOf({ grid, layout }: GridSettings, kinds: readonly GridKind[]): readonly Storage[] {
  const grids = grid === "auto" ? kinds : [grid];
  const layouts = layout === "auto" ? LAYOUTS : [layout];
  return grids.flatMap((kind) => layouts.map((name) => ({ grid: kind, layout: name })));
}

async function firstThatCan<A>(
  candidates: readonly Storage[],
  make: (storage: Storage) => Promise<A>,
): Promise<{ storage: Storage; made: A }> {
  const failures: unknown[] = [];
  for (const storage of candidates)
    try {
      return { storage, made: await make(storage) };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      failures.push(error);
    }
  throw failures[0];
}
