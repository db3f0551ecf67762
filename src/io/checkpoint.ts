import type { TypedArray } from "../device/memory/view.js";
import { IsoformError } from "../base/errors.js";
import { agreedByAll } from "../set/job.js";
import { onAllRanks, spansProcesses, type DeviceSet } from "../set/index.js";
import { keyOf, checkpointParts, type Checkpointed, type Described, type CheckpointPart, type PartArray } from "./checkpoint-parts.js";
import { openPieces, writeInPieces } from "./checkpoint-pieces.js";
import { writeByOne } from "./files.js";
import { previousOf, replaceCheckpoint } from "./replace-checkpoint.js";
import { openState, stateBytes, type Run, type StoredArray } from "./state-file.js";

/*
 * Checkpoints: everything a run depends on, by the names of fields, scalars and species; in a file, or in several processes in a file each, with an index.
 * Values cover the whole box, so that they fit any number of members and processes, kind of grid and layout.
 */

/** Options of `writeCheckpoint` and `readCheckpoint`. */
export interface CheckpointOptions {
  /** Tells files of several programs, and their versions, apart; in ASCII. Default: `isoform checkpoint 1`. */
  readonly format?: string;
}

const FORMAT = "isoform checkpoint 1";

/** Processes of a set, or none. */
type Together = Pick<DeviceSet, "ranks">;

/** The set whose processes all write and read, where some part has one. */
const setOf = (parts: readonly CheckpointPart[]): Together => parts.find((part) => part.set?.ranks)?.set ?? {};

/**
 * Writes a checkpoint beside what is at `path`, then puts it there and keeps that as `previousOf(path)`: whatever happens, one of both is whole. Waits
 * for the devices. Some planes of one field at a time are on the host. All processes of a set call it: each writes what its members own to a file of its
 * own, in a folder beside `path`, and rank 0 then writes `path`, which names these files.
 *
 * @param metadata whatever the program wants to know when it reads it, such as the parameters of the run; as JSON has it
 * @throws IsoformError if a file cannot be written, on all ranks alike; what is at `path` is then what it was
 */
export async function writeCheckpoint(
  path: string,
  of: Checkpointed,
  metadata: unknown = null,
  { format = FORMAT }: CheckpointOptions = {},
): Promise<void> {
  const parts = checkpointParts(of);
  const described: Described[] = [];
  const arrays: PartArray[] = [];
  for (const part of parts) {
    const { kind, name, is, iteration } = part;
    const own = await part.arrays();
    described.push({ kind, name, is, arrays: own.length, iteration });
    arrays.push(...own);
  }
  const set = setOf(parts);
  const content = { head: { metadata, parts: described }, arrays };
  if (set.ranks && spansProcesses(set) && (await writeInPieces(set.ranks, path, format, content))) return;
  await writeByOne(set, stateBytes(format, content), (bytes) => replaceCheckpoint(path, bytes));
}

/**
 * Opens a file of `writeCheckpoint`. All bytes of one that has all values are compared with its digest; where values are in files of their own, these are
 * found now, and compared when they are read. Throws IsoformError for another file, and for a damaged one with where the one before is, if that is intact.
 */
export async function readCheckpoint(path: string, { format = FORMAT }: CheckpointOptions = {}): Promise<Checkpoint> {
  try {
    return await openCheckpoint(path, format);
  } catch (error) {
    if (!(error instanceof IsoformError)) throw error;
    throw (await isIntact(previousOf(path), format)) ? new IsoformError(offering(error, path)) : error;
  }
}

const offering = ({ message }: Error, path: string): string => `${message}; the previous checkpoint is intact: ${previousOf(path)}`;

/** Whether all values of a checkpoint can be read. */
async function isIntact(path: string, format: string): Promise<boolean> {
  try {
    const { stored } = await openCheckpoint(path, format);
    for (const array of stored) await pass(array, { first: 0, end: array.length });
    return true;
  } catch {
    return false;
  }
}

/** Values that are read at once, to be compared with their digests. */
const AT_ONCE = 2 ** 20;

/** Reads values, which compares them with their digests. */
async function pass(array: StoredArray, { first, end }: Run): Promise<void> {
  for (let at = first; at < end; at += AT_ONCE) await array.values(at, Math.min(end, at + AT_ONCE));
}

async function openCheckpoint(path: string, format: string): Promise<Checkpoint> {
  const { head, arrays, digest } = await openState(path, format);
  const { metadata, parts, pieces } = (head ?? {}) as { metadata?: unknown; parts?: unknown; pieces?: unknown };
  const stored = pieces === undefined ? arrays : await openPieces(path, format, pieces, arrays);
  if (!isDescription(parts) || parts.reduce((sum, part) => sum + part.arrays, 0) !== stored.length)
    throw new IsoformError(`${path} is an incomplete checkpoint: it lacks the list of its arrays`);
  return new Checkpoint(path, metadata, { format, digest, parts, arrays: stored, isChecked: pieces === undefined });
}

const isDescription = (parts: unknown): parts is Described[] =>
  Array.isArray(parts) &&
  parts.every((part: Partial<Described> | null) => {
    const isCount = (n: unknown) => Number.isSafeInteger(n) && (n as number) >= 0;
    const texts = [part?.kind, part?.name, part?.is];
    return texts.every((text) => typeof text === "string") && isCount(part!.arrays) && isCount(part!.iteration ?? 0);
  });

/** Content of a checkpoint's file. */
interface Content {
  readonly format: string;
  readonly digest: string;
  readonly parts: readonly Described[];
  readonly arrays: readonly StoredArray[];
  /** Whether all values were compared with a digest. */
  readonly isChecked: boolean;
}

/** A checkpoint in files. */
export class Checkpoint {
  constructor(
    private readonly path: string,
    /** Metadata that `writeCheckpoint` was given. The program has to check it: a file may hold anything. */
    readonly metadata: unknown,
    private readonly content: Content,
  ) {}

  /** The arrays, in the order in which they were written; their values are read when they are asked for, all or some. */
  get stored(): readonly StoredArray[] {
    return this.content.arrays;
  }

  /** All values, in the order in which they were written. */
  async arrays(): Promise<readonly TypedArray[]> {
    const all: TypedArray[] = [];
    for (const array of this.stored) all.push(await array.values());
    return all;
  }

  /**
   * Some values of each array, in the order in which they were written; all processes of a set call it, each for runs of its own.
   * @param runs default: all values of each
   * @throws IsoformError on all ranks alike where one cannot read its values, and where they have opened different checkpoints
   */
  async read(set: Together, runs: (array: StoredArray, n: number) => Run | undefined = () => undefined): Promise<readonly TypedArray[]> {
    await this.requireSame(set);
    return this.offeringPrevious(set, () =>
      onAllRanks(set, async () => {
        const found: TypedArray[] = [];
        for (const [n, array] of this.stored.entries()) {
          const { first, end } = runs(array, n) ?? { first: 0, end: array.length };
          found.push(await array.values(first, end));
        }
        return found;
      }),
    );
  }

  /** The values of one of the program's own arrays, for what has to be known before the others can be taken. Throws IsoformError where there is none. */
  async array(name: string): Promise<TypedArray> {
    let at = 0;
    for (const { kind, name: found, arrays } of this.content.parts) {
      if (kind === "array" && found === name) return this.stored[at].values();
      at += arrays;
    }
    throw new IsoformError(`${this.path} has no array "${name}": it is a checkpoint of another state`);
  }

  /**
   * Puts the values into fields, scalars, species and skeletons of the same names, and sets their iterations. Members, processes, kinds of grids and layouts
   * may differ from the run that wrote the checkpoint: in strict mode the iterations that follow have the same bits. Some planes of one field at a time are on
   * the host. All processes of a set call it, and each reads what its members own.
   *
   * @throws IsoformError if names, types or extents differ, with all that do, and for damaged values, on all ranks alike; nothing has changed then
   */
  async restore(of: Checkpointed): Promise<void> {
    const parts = checkpointParts(of);
    const set = setOf(parts);
    await this.requireSame(set);
    const matched = this.matched(parts);
    const runs: (readonly Run[])[] = [];
    await this.offeringPrevious(set, () =>
      onAllRanks(set, async () => {
        for (const { part, arrays } of matched) {
          const taken =
            arrays.length === 0 ? [] : ((await part.taken?.(arrays)) ?? arrays.map(({ length }) => ({ first: 0, end: length })));
          if (!this.content.isChecked) for (const [n, array] of arrays.entries()) await pass(array, taken[n]);
          runs.push(taken);
        }
      }),
    );
    for (const [n, { part, arrays, iteration }] of matched.entries()) await part.restore(arrays, runs[n], iteration);
  }

  /** The parts that take the values, in the order of the file. Throws IsoformError for differences. */
  private matched(
    parts: readonly CheckpointPart[],
  ): { readonly part: CheckpointPart; readonly arrays: readonly StoredArray[]; readonly iteration?: number }[] {
    const here = new Map(parts.map((part) => [keyOf(part), part]));
    let at = 0;
    const there = new Map(this.content.parts.map((part) => [keyOf(part), { part, arrays: this.stored.slice(at, (at += part.arrays)) }]));
    const differences = [...new Set([...there.keys(), ...here.keys()])].flatMap((key) => {
      const [found, part] = [there.get(key), here.get(key)];
      if (!part) return [`${key} is in the file only`];
      if (!found) return [`${key} is not in the file`];
      if (found.part.is !== part.is) return [`${key} is ${found.part.is} in the file, ${part.is} here`];
      return part.fits(found.arrays.map(({ length }) => length)) ? [] : [`${key} has different lengths in the file`];
    });
    if (differences.length > 0) throw new IsoformError(`${this.path} is a checkpoint of another state: ${differences.join("; ")}`);
    return [...there].map(
      ([
        key,
        {
          part: { iteration },
          arrays,
        },
      ]) => {
        const part = here.get(key)!;
        return { part, arrays: part.narrowed?.(arrays) ?? arrays, iteration };
      },
    );
  }

  /** Refuses different checkpoints on some ranks, which have opened them by themselves. Throws IsoformError on all. */
  private async requireSame({ ranks }: Together): Promise<void> {
    const digests = (await ranks?.gather(this.content.digest, "the digest of a checkpoint")) ?? [];
    const other = digests.findIndex((digest) => digest !== digests[0]);
    if (other > 0)
      throw agreedByAll(
        new IsoformError(
          `${this.path} is another checkpoint on rank ${other} than on rank 0: it was written while they opened it, or they see different folders; ` +
            "start again once nothing writes it, in a folder that all ranks see",
        ),
      );
  }

  /** Does what reads values; an error tells of the checkpoint before, on all ranks alike. */
  private async offeringPrevious<T>({ ranks }: Together, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { path, content } = this;
      if (!(error instanceof IsoformError)) throw error;
      const isOffered = (ranks?.rank ?? 0) === 0 && (await isIntact(previousOf(path), content.format));
      const offers = ranks ? await ranks.agree(isOffered, "the checkpoint before") : isOffered;
      throw offers ? agreedByAll(new IsoformError(offering(error, path))) : error;
    }
  }
}
