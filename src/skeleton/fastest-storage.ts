import { FIELD_LAYOUTS, type GridKind } from "../domain/grid/options.js";
import { requireOneProcess } from "../set/one-process.js";
import type { GridSettings, Resolved, Storage } from "./settings.js";
import type { Skeleton } from "./skeleton.js";
import { fastestWay } from "./tuning/auto.js";
import { isRefusal } from "./tuning/choice.js";

/** An application with its data on the devices, ready to iterate. */
export interface Tunable {
  readonly skeleton: Skeleton;
  /** Gives back all of its memory. */
  free(): void;
}

/** See `tuned`: of several kinds of grids and layouts the fastest, measured. */
export async function withFastestStorage<A extends Tunable, S extends GridSettings>(
  settings: S,
  make: (settings: Resolved<S>) => A | Promise<A>,
  kinds: readonly GridKind[],
): Promise<A> {
  const candidates = candidatesOf(settings, kinds);
  const makeOne = async (storage: Storage): Promise<A> => make({ ...settings, ...storage });
  let ready = await firstThatCan(candidates, makeOne);
  requireOneProcess('a grid or layout that is measured, "auto",', ready.made.skeleton.set);
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
  const layouts = layout === "auto" ? FIELD_LAYOUTS : [layout];
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
