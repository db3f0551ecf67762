import { typedArray, type TypedArray } from "../device/memory/view.js";
import { AxisArray } from "../domain/grid/axis-array.js";
import { Field, type GridSpecies } from "../domain/grid/grid.js";
import type { Species } from "../domain/particles/index.js";
import { IsoformError } from "../base/errors.js";
import { agreedByAll } from "../set/job.js";
import type { NumberElement } from "../ir/scalars.js";
import { onAllRanks, Scalar, spansProcesses, type DeviceSet } from "../set/index.js";
import { joined, onlyIn, runOf, valuesIn, type FileBlock } from "./blocks.js";
import { boxValues, ownBlocks, ownRows, planeValues, takenPlanes } from "./fields.js";
import { columnsIn, ownParticles, readOwnParticles } from "./own-particles.js";
import type { Run, StateArray, StoredArray } from "./state-file.js";

/*
 * Contents of checkpoints: how fields, scalars, species, skeletons and arrays of programs give and take their values.
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
  readonly type: NumberElement;
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

/** Description of a part in the file. */
export interface Described {
  readonly kind: string;
  readonly name: string;
  /** Properties that must agree for a part to take the values. */
  readonly is: string;
  /** Arrays that it has in the file. */
  readonly arrays: number;
  readonly iteration?: number;
}

/** Values of a part. */
export interface PartArray extends StateArray {
  /** The values that this process has, where each of several has some, block after block. They are given without messages between processes. */
  readonly own?: StateArray & { readonly blocks: readonly FileBlock[] };
}

/** Something with values, here. */
export interface CheckpointPart extends Omit<Described, "arrays"> {
  /** Whose processes all write, where it has one. */
  readonly set?: DeviceSet;
  /** All processes of the set call it, and ask for the values of an array that has no `own` together. */
  arrays(): Promise<readonly PartArray[]>;
  /** True where arrays of these lengths can be taken. */
  fits(lengths: readonly number[]): boolean;
  /** The same arrays, where this process takes some of their values only: others may be 0. */
  narrowed?(arrays: readonly StoredArray[]): readonly StoredArray[];
  /** The runs of the arrays that this process takes, without messages between processes. Default: all values. */
  taken?(arrays: readonly StoredArray[]): readonly Run[] | Promise<readonly Run[]>;
  /** @param runs that `taken` has given */
  restore(values: readonly StoredArray[], runs: readonly Run[], iteration: number | undefined): void | Promise<void>;
}

export const keyOf = ({ kind, name }: Pick<CheckpointPart, "kind" | "name">): string => `${kind} "${name}"`;

/** All parts, each once; of two with one name the second has a number. */
export function checkpointParts(of: Checkpointed): CheckpointPart[] {
  const parts: CheckpointPart[] = [];
  const seen = new Set<unknown>();
  const names = new Map<string, number>();
  const add = (owner: unknown, make: () => CheckpointPart): void => {
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

function sequencePart(sequence: CheckpointedSequence): CheckpointPart {
  return {
    kind: "skeleton",
    name: sequence.name,
    is: "a skeleton",
    iteration: sequence.iteration,
    arrays: async () => [],
    fits: (lengths) => lengths.length === 0,
    restore: (_arrays, _runs, iteration = 0) => {
      sequence.iteration = iteration;
    },
  };
}

/** With its ghosts; without values where nothing has given it any. */
function fieldPart(field: Field): CheckpointPart {
  const { name, type, cardinality, grid } = field;
  const { extents, ghosts: margins, cells } = grid;
  const ghosts = margins.some(([low, high]) => low + high > 0);
  const length = extents.reduce((product, n, axis) => product * (n + margins[axis][0] + margins[axis][1]), cardinality);
  const active = cells < extents.reduce((a, b) => a * b, 1) ? `, ${cells} of them active` : "";
  const [before, after] = margins.at(-1)!;
  const plane = length / (extents.at(-1)! + before + after);
  const beyond = ghosts ? ` with ghosts ${margins.map(([low, high]) => `${low} + ${high}`).join(", ")}` : "";
  return {
    kind: "field",
    name,
    set: grid.set,
    is: `${componentsOf(type, cardinality)} on ${extents.join(" x ")} cells${active}${beyond}`,
    arrays: async () => {
      if (!field.defined) return [];
      await finish(grid.set);
      const all = { type, length, values: () => planeValues(field, { ghosts }) };
      if (!spansProcesses(grid.set)) return [all];
      const blocks = ownBlocks(field, ghosts);
      return [{ ...all, own: { type, length: valuesIn(blocks), blocks, values: () => boxValues(field, { ghosts }) } }];
    },
    taken: (arrays) => {
      const { first, end } = takenPlanes(field, ghosts);
      return arrays.map(() => ({ first: (first + before) * plane, end: (end + before) * plane }));
    },
    narrowed: (arrays) => {
      const rows = spansProcesses(grid.set) ? ownRows(field, ghosts) : undefined;
      return rows ? arrays.map((array) => onlyIn(rows, array)) : arrays;
    },
    fits: (lengths) => lengths.length === 0 || (lengths.length === 1 && lengths[0] === length),
    restore: async ([array]) => {
      if (!array) return;
      await field.uploadPlanes((first, end) => array.values((first + before) * plane, (end + before) * plane), { ghosts });
    },
  };
}

function axisPart(array: AxisArray): CheckpointPart {
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

function scalarPart(scalar: Scalar): CheckpointPart {
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

/** All columns of this process are on the host at once; particles stand in the order of their cells. */
function speciesPart(species: Species): CheckpointPart {
  const { grid, name } = species;
  const columns = Object.entries(species.columns);
  const isShared = spansProcesses(grid.set);
  const particlesIn = (arrays: readonly StoredArray[]): number => arrays[0].length / columns[0][1].components;
  return {
    kind: "species",
    name,
    set: grid.set,
    is: `${columns.map(([column, { type, components }]) => `${column} ${components} ${type}`).join(", ")} on ${grid.extents.join(" x ")} cells`,
    arrays: async () => {
      await finish(grid.set);
      const { count, own } = await species.places();
      const all = once(() => species.download(), columns.length);
      const ownAll = once(() => species.downloadOwn(), columns.length);
      return columns.map(([column, { type, components }]) => ({
        type,
        length: count * components,
        values: async () => (await all())[column],
        ...(isShared && {
          own: {
            type,
            length: components * own.reduce((sum, [, held]) => sum + held, 0),
            blocks: own.map(([first, held]) => runOf(first * components, held * components)),
            values: async () => (await ownAll())[column],
          },
        }),
      }));
    },
    fits: (lengths) => {
      const counts = lengths.map((length, n) => length / (columns[n]?.[1].components ?? 0));
      return counts.length === columns.length && counts.every((count) => Number.isInteger(count) && count === counts[0]);
    },
    taken: async (arrays) => {
      const x = columns.findIndex(([column]) => column === "x");
      const { first, end } = isShared ? await ownParticles(species, arrays[x]) : { first: 0, end: particlesIn(arrays) };
      return columns.map(([, { components }]) => ({ first: first * components, end: end * components }));
    },
    restore: async (arrays, runs) => {
      const [{ first, end }] = runs.map((run) => ({
        first: run.first / columns[0][1].components,
        end: run.end / columns[0][1].components,
      }));
      const stored = new Map(columns.map(([column], n) => [column, arrays[n]]));
      if (isShared) {
        const own = await onAllRanks(grid.set, () => readOwnParticles(species, stored, { first, end }));
        await requireAll(species, own.x.length, stored.get("x")!.length);
        await species.loadOwn(own, first);
      } else species.load((await columnsIn(species, stored, { first, end })) as { x: TypedArray });
    },
  };
}

/** Makes something when it is first asked for, and lets go of it when it is asked for the last time. */
function once<T>(make: () => Promise<T>, uses: number): () => Promise<T> {
  let [made, left]: [Promise<T> | undefined, number] = [undefined, uses];
  return () => {
    const found = (made ??= make());
    if (--left === 0) made = undefined;
    return found;
  };
}

/** Refuses stored particles that no process has taken, as they do not stand in the order of their cells. Throws IsoformError on all ranks. */
async function requireAll({ grid, name }: Species, own: number, all: number): Promise<void> {
  const taken = await grid.set.ranks!.gather(own, `the stored particles of "${name}"`);
  const axes = grid.dimension;
  const sum = taken.reduce((a, b) => a + b, 0);
  if (sum !== all)
    throw agreedByAll(
      new IsoformError(
        `species "${name}": ${all / axes} particles are in the checkpoint, and ranks have found ${sum / axes}: they do not stand in the order of their cells`,
      ),
    );
}

function arrayPart(array: CheckpointedArray): CheckpointPart {
  const { name, type, length, set, piece } = array;
  const ranks = piece && spansProcesses(piece.set) ? piece.set.ranks : undefined;
  async function* values(): AsyncGenerator<TypedArray> {
    yield* ranks ? await ranks.gather(array.read(), `array "${name}"`) : [await array.read()];
  }
  return {
    kind: "array",
    name,
    set: piece?.set ?? set,
    is: `${length} ${type}`,
    arrays: async () => [
      {
        type,
        length,
        values,
        ...(piece &&
          ranks && { own: { type, length: piece.length, blocks: joined([runOf(piece.first, piece.length)]), values: () => array.read() } }),
      },
    ],
    fits: ([only, another]) => only === length && another === undefined,
    taken: () => [piece ? { first: piece.first, end: piece.first + piece.length } : { first: 0, end: length }],
    restore: async ([stored], [{ first, end }]) => array.write(await stored.values(first, end)),
  };
}

/** Waits for the skeletons' work, which is done when the first stream of the first member is. */
const finish = ({ locals }: DeviceSet): Promise<void> => locals[0].queue(0).finish();
