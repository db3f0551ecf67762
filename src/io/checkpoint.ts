import { link, rename, rm, stat } from "node:fs/promises";
import { typedArray, type TypedArray } from "../device/memory/view.js";
import { AxisArray } from "../domain/grid/axis-array.js";
import { Field, type GridSpecies } from "../domain/grid/grid.js";
import type { Species } from "../domain/particles/index.js";
import { IsoformError } from "../ir/errors.js";
import type { ElementType } from "../ir/scalars.js";
import { Scalar, type DeviceSet } from "../set/index.js";
import { writeByOne, type Pieces } from "./files.js";
import { openState, stateBytes, type StateArray, type StoredArray } from "./state-file.js";
import { planeValues } from "./fields.js";
import { removeStale, writeWhole } from "./whole-file.js";

/*
 * Checkpoints: everything a run depends on, in a file, by the names of fields, scalars and species. Values cover the whole box, so that they fit any
 * number of members, kind of grid and layout.
 */

/** A skeleton, as a checkpoint has it. */
export interface CheckpointedSequence {
  readonly name: string;
  iteration: number;
  readonly state: {
    readonly fields: readonly Field[];
    /** Fields on some of the axes, into which it reduces. */
    readonly folded: readonly AxisArray[];
    readonly scalars: readonly Scalar[];
    readonly species: readonly GridSpecies[];
  };
}

/** Values of the program's own. */
export interface CheckpointedArray {
  readonly name: string;
  readonly type: ElementType;
  /** Number of all values. */
  readonly length: number;
  /** Processes that all read and write the same values, together; without one each process does so alone. */
  readonly set?: DeviceSet;
  /**
   * The values that this process of several has: `read` gives them, and `write` takes them. Rank 0 has the first, rank 1 the next. Absent where each
   * process has all.
   */
  readonly piece?: { readonly set: DeviceSet; readonly first: number; readonly length: number };
  read(): Promise<TypedArray>;
  write(values: TypedArray): void | Promise<void>;
}

/** Content of a checkpoint: skeletons with all that they use, and further fields, scalars and species by name. */
export type Checkpointed = CheckpointedSequence | Field | AxisArray | Scalar | GridSpecies | CheckpointedArray | readonly Checkpointed[];

/** Options of `writeCheckpoint` and `readCheckpoint`. */
export interface CheckpointOptions {
  /** Tells files of several programs, and their versions, apart; in ASCII. Default: `isoform checkpoint 1`. */
  readonly format?: string;
}

const FORMAT = "isoform checkpoint 1";

/** Description of a part in the file. */
interface Described {
  readonly kind: string;
  readonly name: string;
  /** Properties that must agree for a part to take the values. */
  readonly is: string;
  /** Arrays that it has in the file. */
  readonly arrays: number;
  readonly iteration?: number;
}

/** Something with values, here. */
interface Part extends Omit<Described, "arrays"> {
  /** Whose processes all write, where it has one. */
  readonly set?: DeviceSet;
  arrays(): Promise<readonly StateArray[]>;
  /** True where arrays of these lengths can be taken. */
  fits(lengths: readonly number[]): boolean;
  restore(values: readonly StoredArray[], iteration: number | undefined): void | Promise<void>;
}

/** Path of the checkpoint that the one at `path` replaced. */
export const previousOf = (path: string): string => `${path}.previous`;

/**
 * Writes a checkpoint beside what is at `path`, then puts it there and keeps that as `previousOf(path)`: whatever happens, one of both is whole. Waits
 * for the devices. Some planes of one field at a time are on the host. All processes of a set call it, and rank 0 writes.
 *
 * @param metadata whatever the program wants to know when it reads it, such as the parameters of the run; as JSON has it
 * @throws IsoformError if the file cannot be written; what is at `path` is then what it was
 */
export async function writeCheckpoint(
  path: string,
  of: Checkpointed,
  metadata: unknown = null,
  { format = FORMAT }: CheckpointOptions = {},
): Promise<void> {
  const parts = partsOf(of);
  const described: Described[] = [];
  const all: StateArray[] = [];
  for (const part of parts) {
    const { kind, name, is, iteration } = part;
    const arrays = await part.arrays();
    described.push({ kind, name, is, arrays: arrays.length, iteration });
    all.push(...arrays);
  }
  const pieces = stateBytes(format, { head: { metadata, parts: described }, arrays: all });
  await writeByOne(parts.find((part) => part.set?.ranks)?.set ?? {}, pieces, (bytes) => writeFile(path, bytes));
}

async function writeFile(path: string, pieces: Pieces): Promise<void> {
  await removeStale(path);
  try {
    await writeWhole(path, pieces, () => keepPrevious(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    const there = await stat(path).catch(() => undefined);
    const kept = there?.isFile() ? "; the previous checkpoint is still there" : "";
    throw new IsoformError(`cannot write ${path}: ${(error as Error).message.split(",")[0]}${kept}`);
  }
}

/** Under both names, where the file system can: there is never a moment without a checkpoint at `path`. */
async function keepPrevious(path: string): Promise<void> {
  const previous = previousOf(path);
  if (!(await stat(path).catch(() => undefined))) return;
  await rm(previous, { force: true });
  await link(path, previous).catch(() => rename(path, previous));
}

/**
 * Opens a file of `writeCheckpoint`, all of whose bytes are compared with its digest. Throws IsoformError for another file, and for a damaged one with
 * where the one before is, if that is whole.
 */
export async function readCheckpoint(path: string, { format = FORMAT }: CheckpointOptions = {}): Promise<Checkpoint> {
  try {
    return await openCheckpoint(path, format);
  } catch (error) {
    if (!(error instanceof IsoformError)) throw error;
    const before = previousOf(path);
    const isWhole = await openCheckpoint(before, format).then(
      () => true,
      () => false,
    );
    throw isWhole ? new IsoformError(`${error.message}; the previous checkpoint is intact: ${before}`) : error;
  }
}

async function openCheckpoint(path: string, format: string): Promise<Checkpoint> {
  const { head, arrays } = await openState(path, format);
  const { metadata, parts } = (head ?? {}) as { metadata?: unknown; parts?: unknown };
  if (!isDescription(parts) || parts.reduce((sum, part) => sum + part.arrays, 0) !== arrays.length)
    throw new IsoformError(`${path} is an incomplete checkpoint: it lacks the list of its arrays`);
  return new Checkpoint(path, metadata, parts, arrays);
}

const isDescription = (parts: unknown): parts is Described[] =>
  Array.isArray(parts) &&
  parts.every((part: Partial<Described> | null) => {
    const isCount = (n: unknown) => Number.isSafeInteger(n) && (n as number) >= 0;
    const texts = [part?.kind, part?.name, part?.is];
    return texts.every((text) => typeof text === "string") && isCount(part!.arrays) && isCount(part!.iteration ?? 0);
  });

/** A checkpoint in a file. */
export class Checkpoint {
  constructor(
    private readonly path: string,
    /** Metadata that `writeCheckpoint` was given. The program has to check it: a file may hold anything. */
    readonly metadata: unknown,
    private readonly parts: readonly Described[],
    private readonly values: readonly StoredArray[],
  ) {}

  /** The arrays, in the order in which they were written; their values are read when they are asked for, all or some. */
  get stored(): readonly StoredArray[] {
    return this.values;
  }

  /** All values, in the order in which they were written. */
  async arrays(): Promise<readonly TypedArray[]> {
    const all: TypedArray[] = [];
    for (const array of this.values) all.push(await array.values());
    return all;
  }

  /** The values of one of the program's own arrays, for what has to be known before the others can be taken. Throws IsoformError where there is none. */
  async array(name: string): Promise<TypedArray> {
    let at = 0;
    for (const { kind, name: found, arrays } of this.parts) {
      if (kind === "array" && found === name) return this.values[at].values();
      at += arrays;
    }
    throw new IsoformError(`${this.path} has no array "${name}": it is a checkpoint of another state`);
  }

  /**
   * Puts the values into fields, scalars, species and skeletons of the same names, and sets their iterations. Members, kinds of grids and layouts may
   * differ from the run that wrote the checkpoint: in strict mode the iterations that follow have the same bits. Some planes of one field at a time are on
   * the host.
   *
   * @throws IsoformError if names, types or extents differ, with all that do; nothing has changed then
   */
  async restore(of: Checkpointed): Promise<void> {
    const here = new Map(partsOf(of).map((part) => [keyOf(part), part]));
    let at = 0;
    const there = new Map(this.parts.map((part) => [keyOf(part), { part, arrays: this.values.slice(at, (at += part.arrays)) }]));
    const differences = [...new Set([...there.keys(), ...here.keys()])].flatMap((key) => {
      const [found, part] = [there.get(key), here.get(key)];
      if (!part) return [`${key} is in the file only`];
      if (!found) return [`${key} is not in the file`];
      if (found.part.is !== part.is) return [`${key} is ${found.part.is} in the file, ${part.is} here`];
      return part.fits(found.arrays.map(({ length }) => length)) ? [] : [`${key} has different lengths in the file`];
    });
    if (differences.length > 0) throw new IsoformError(`${this.path} is a checkpoint of another state: ${differences.join("; ")}`);
    for (const [key, { part, arrays }] of there) await here.get(key)!.restore(arrays, part.iteration);
  }
}

const keyOf = ({ kind, name }: Pick<Part, "kind" | "name">): string => `${kind} "${name}"`;

/** All parts, each once; of two with one name the second has a number. */
function partsOf(of: Checkpointed): Part[] {
  const parts: Part[] = [];
  const seen = new Set<unknown>();
  const names = new Map<string, number>();
  const add = (owner: unknown, make: () => Part): void => {
    if (seen.has(owner)) return;
    seen.add(owner);
    const part = make();
    const count = (names.get(keyOf(part)) ?? 0) + 1;
    names.set(keyOf(part), count);
    parts.push(count === 1 ? part : { ...part, name: `${part.name} (${count})` });
  };
  const visit = (each: Checkpointed): void => {
    if (Array.isArray(each)) return each.forEach(visit);
    if (each instanceof Field) return add(each, () => fieldPart(each));
    if (each instanceof AxisArray) return add(each, () => axisPart(each));
    if (each instanceof Scalar) return add(each, () => scalarPart(each));
    if ("columns" in each) return add(each, () => speciesPart(each as Species));
    if ("read" in each) return add(each, () => arrayPart(each));
    const { state } = each as CheckpointedSequence;
    add(each, () => sequencePart(each as CheckpointedSequence));
    const lists = new Set(state.species.flatMap(({ first, count }) => [first, count]));
    visit([...state.fields.filter((field) => !lists.has(field)), ...state.folded, ...state.scalars, ...state.species]);
  };
  visit(of);
  return parts;
}

function sequencePart(sequence: CheckpointedSequence): Part {
  return {
    kind: "skeleton",
    name: sequence.name,
    is: "a skeleton",
    iteration: sequence.iteration,
    arrays: async () => [],
    fits: (lengths) => lengths.length === 0,
    restore: (_, iteration = 0) => {
      sequence.iteration = iteration;
    },
  };
}

/** With its ghosts; without values where nothing has given it any. */
function fieldPart(field: Field): Part {
  const { name, type, cardinality, grid } = field;
  const { extents, ghosts: margins, cells } = grid;
  const ghosts = margins.some(([low, high]) => low + high > 0);
  const length = extents.reduce((product, n, axis) => product * (n + margins[axis][0] + margins[axis][1]), cardinality);
  const active = cells < extents.reduce((a, b) => a * b, 1) ? `, ${cells} of them active` : "";
  const beyond = ghosts ? ` with ghosts ${margins.map(([low, high]) => `${low} + ${high}`).join(", ")}` : "";
  return {
    kind: "field",
    name,
    set: grid.set,
    is: `${componentsOf(type, cardinality)} on ${extents.join(" x ")} cells${active}${beyond}`,
    arrays: async () => {
      if (!field.defined) return [];
      await finish(grid.set);
      return [{ type, length, values: () => planeValues(field, { ghosts }) }];
    },
    fits: (lengths) => lengths.length === 0 || (lengths.length === 1 && lengths[0] === length),
    restore: async ([array]) => {
      if (!array) return;
      const [before, behind] = ghosts ? margins.at(-1)! : [0, 0];
      const plane = length / (extents.at(-1)! + before + behind);
      await field.uploadPlanes((first, end) => array.values((first + before) * plane, (end + before) * plane), { ghosts });
    },
  };
}

function axisPart(array: AxisArray): Part {
  const { name, type, cardinality, length, axes, ghosts, grid } = array;
  const along = axes.map((axis) => `${grid.extents[axis]} along ${"xyz"[axis]}`).join(", ");
  return {
    kind: "field",
    name,
    set: grid.set,
    is: `${componentsOf(type, cardinality)} on ${along}${ghosts > 0 ? ` with ${ghosts} ghosts` : ""}`,
    arrays: async () => {
      await finish(grid.set);
      return [{ type, length, values: () => array.download() }];
    },
    fits: ([only, another]) => only === length && another === undefined,
    restore: async ([values]) => array.set(await values.values()),
  };
}

const componentsOf = (type: string, cardinality: number): string => (cardinality === 1 ? type : `${cardinality} ${type}`);

function scalarPart(scalar: Scalar): Part {
  const { name, type } = scalar;
  return {
    kind: "scalar",
    name,
    set: scalar.devices,
    is: type,
    arrays: async () => {
      const value = typedArray(type, 1);
      value[0] = await scalar.get();
      return [{ type, length: 1, values: async () => value }];
    },
    fits: ([length, another]) => length === 1 && another === undefined,
    restore: async ([array]) => scalar.set((await array.values())[0]),
  };
}

/** All columns are on the host at once; particles stand in the order of their cells. */
function speciesPart(species: Species): Part {
  const { grid, name } = species;
  const columns = Object.entries(species.columns);
  return {
    kind: "species",
    name,
    set: grid.set,
    is: `${columns.map(([column, { type, components }]) => `${column} ${components} ${type}`).join(", ")} on ${grid.extents.join(" x ")} cells`,
    arrays: async () => {
      await finish(grid.set);
      const count = (await species.held()).reduce((a, b) => a + b, 0);
      let all: ReturnType<Species["download"]> | undefined;
      return columns.map(([column, { type, components }], n) => ({
        type,
        length: count * components,
        values: async () => {
          const values = (await (all ??= species.download()))[column];
          if (n === columns.length - 1) all = undefined;
          return values;
        },
      }));
    },
    fits: (lengths) => {
      const counts = lengths.map((length, n) => length / (columns[n]?.[1].components ?? 0));
      return counts.length === columns.length && counts.every((count) => Number.isInteger(count) && count === counts[0]);
    },
    restore: async (arrays) => {
      const values: TypedArray[] = [];
      for (const array of arrays) values.push(await array.values());
      return species.load(Object.fromEntries(columns.map(([column], n) => [column, values[n]])) as { x: TypedArray });
    },
  };
}

function arrayPart(array: CheckpointedArray): Part {
  const { name, type, length, set, piece } = array;
  const ranks = piece?.set.ranks;
  async function* values(): AsyncGenerator<TypedArray> {
    yield* ranks ? await ranks.gather(array.read(), `array "${name}"`) : [await array.read()];
  }
  return {
    kind: "array",
    name,
    set: piece?.set ?? set,
    is: `${length} ${type}`,
    arrays: async () => [{ type, length, values }],
    fits: ([only, another]) => only === length && another === undefined,
    restore: async ([stored]) => array.write(await stored.values(...(piece ? [piece.first, piece.first + piece.length] : []))),
  };
}

/** Waits for the skeletons' work, which is done when the first stream of the first member is. */
const finish = ({ locals }: DeviceSet): Promise<void> => locals[0].queue(0).finish();
