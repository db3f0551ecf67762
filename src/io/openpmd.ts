import type { Field } from "../domain/grid/grid.js";
import type { TypedArray } from "../device/memory/view.js";
import { IsoformError } from "../base/errors.js";
import { hostArrayOf, faceCoordinates, gridOf, originOf, spacingOf, type Faces, type Geometry } from "./fields.js";
import { writeByOne } from "./files.js";
import { readHdf5, writeHdf5, type Attributes, type Dataset, type Group, type NewDataset, type NewGroup, type Read } from "./hdf5-file.js";

/*
 * HDF5 files by the openPMD standard 1.1.0, the base standard without extensions: iterations at /data/<step>/, with records of meshes and of
 * species of particles.
 */

/** Values of one component: an array, what makes it when its turn comes, or one number for all. */
export type Values = TypedArray | (() => Promise<TypedArray>) | number;

/** Powers of length, mass, time, current, temperature, amount and luminous intensity; those left out are 0. */
export type Dimension = readonly number[];

/** A scalar, or components by name. */
export interface OpenPmdRecord {
  readonly values: Values | Readonly<Record<string, Values>>;
  readonly dimension?: Dimension;
  readonly attributes?: Attributes;
}

/** Values in the middle of the cells of a box. */
export interface MeshRecord extends OpenPmdRecord {
  /** Cells along x, y and z, as many as there are axes. */
  readonly extents: readonly number[];
  /** With `faces`, cells are of any widths. */
  readonly geometry?: Geometry | Faces;
}

/** Records of particles, `position` among them. */
export interface ParticleSpecies {
  readonly count: number;
  readonly records: Readonly<Record<string, OpenPmdRecord>>;
}

/** Meshes and particles at one time. */
export interface Snapshot {
  /** Default: 0, as for the time. */
  readonly step?: number;
  readonly time?: number;
  /** Length of the step. Default: 1. */
  readonly dt?: number;
  readonly meshes?: Readonly<Record<string, MeshRecord>>;
  readonly species?: Readonly<Record<string, ParticleSpecies>>;
  /** Comment of the file. */
  readonly comment?: string;
}

const VERSION = "1.1.0";
const AXES = ["x", "y", "z"];

/**
 * Writes a snapshot as an openPMD file (.h5). Units are the program's own: all `unitSI` are 1. Throws IsoformError if the package h5wasm is
 * missing, and for names that openPMD does not allow.
 * @param mode `add` keeps the other steps of the file
 */
export async function writeOpenPmd(path: string, snapshot: Snapshot, mode: "new" | "add" = "new"): Promise<void> {
  const { step = 0, time = 0, dt = 1, meshes = {}, species = {}, comment } = snapshot;
  const iteration: NewGroup = {
    attributes: { time, dt, timeUnitSI: 1 },
    groups: {
      meshes: group(meshes, ({ extents, geometry = {}, ...record }) =>
        recordOf(record, [...extents].reverse(), meshAttributes(extents, geometry), {
          position: new Float64Array(extents.length).fill(0.5),
        }),
      ),
      particles: group(species, ({ count, records }) => {
        const axes = Object.keys(records.position.values);
        const offset = { values: Object.fromEntries(axes.map((axis) => [axis, 0])), dimension: records.position.dimension };
        return group({ ...records, positionOffset: offset }, (record) => recordOf(record, [count], {}, {}));
      }),
    },
  };
  const attributes = {
    openPMD: VERSION,
    openPMDextension: { u32: 0 },
    basePath: "/data/%T/",
    meshesPath: "meshes/",
    particlesPath: "particles/",
    iterationEncoding: "groupBased",
    iterationFormat: "/data/%T/",
    software: "isoform",
    date: new Date().toISOString().replace("T", " ").replace(/\..*/, " +0000"),
    ...(comment === undefined ? {} : { comment }),
  };
  await writeHdf5(path, { attributes, groups: { data: { groups: { [step]: iteration } } } }, mode);
}

/** Fields of one grid as records of `writeOpenPmd`. Where a grid has inactive cells, `active` tells which have values of their own. */
export async function recordsOf(fields: readonly Field[], geometry: Geometry | Faces = {}): Promise<Record<string, MeshRecord>> {
  const { extents, mask } = gridOf(fields);
  const records: Record<string, MeshRecord> = {};
  for (const { name, components, data } of await Promise.all(fields.map(hostArrayOf))) {
    const one = (k: number): TypedArray => data.filter((_, n) => n % components === k);
    const label = (k: number): string => (components <= 3 ? AXES[k] : String(k));
    const values = components === 1 ? data : Object.fromEntries(Array.from({ length: components }, (_, k) => [label(k), one(k)]));
    records[name] = { extents, geometry, values };
  }
  return mask ? { ...records, active: { extents, geometry, values: mask } } : records;
}

/** Writes fields of one grid as the meshes of an openPMD file; see `writeOpenPmd`. */
export async function writeHdf5Fields(path: string, fields: readonly Field[], geometry: Geometry | Faces = {}): Promise<void> {
  const { set } = gridOf(fields);
  const meshes = await recordsOf(fields, geometry);
  await writeByOne(set, [], () => writeOpenPmd(path, { meshes }));
}

/** A group with a child for each entry, a record or a species: groups and datasets apart. */
function group<T>(entries: Readonly<Record<string, T>>, make: (entry: T) => NewGroup | NewDataset): NewGroup {
  const made = Object.entries(entries).map(([name, entry]) => [nameOf(name), make(entry)] as const);
  return {
    groups: Object.fromEntries(made.filter((each): each is [string, NewGroup] => !("data" in each[1]))),
    datasets: Object.fromEntries(made.filter((each): each is [string, NewDataset] => "data" in each[1])),
  };
}

function nameOf(name: string): string {
  if (/^\w+$/.test(name)) return name;
  throw new IsoformError(`openPMD has no name "${name}": give one of letters, digits and _`);
}

function recordOf(
  { values, dimension = [], attributes }: OpenPmdRecord,
  shape: readonly number[],
  ofRecord: Attributes,
  ofComponent: Attributes,
): NewGroup | NewDataset {
  const powers = Float64Array.from({ length: 7 }, (_, n) => dimension[n] ?? 0);
  const about = { unitDimension: powers, timeOffset: 0, ...ofRecord, ...attributes };
  const component = (data: Values): NewGroup | NewDataset =>
    typeof data === "number"
      ? { attributes: { ...ofComponent, unitSI: 1, value: data, shape: BigUint64Array.from(shape, BigInt) } }
      : { shape, data, attributes: { ...ofComponent, unitSI: 1 } };
  if (isComponent(values)) {
    const scalar = component(values);
    return { ...scalar, attributes: { ...scalar.attributes, ...about } };
  }
  return { attributes: about, ...group(values, component) };
}

const isComponent = (values: OpenPmdRecord["values"]): values is Values => typeof values !== "object" || ArrayBuffer.isView(values);

/** Most values of an attribute. */
const MOST_FACES = 8000;

function meshAttributes(extents: readonly number[], geometry: Geometry | Faces): Attributes {
  const reversed = (values: readonly number[]): Float64Array => Float64Array.from(values.slice(0, extents.length).reverse());
  const faces = "faces" in geometry ? faceCoordinates(geometry, extents) : undefined;
  const long = faces?.findIndex(({ length }) => length > MOST_FACES) ?? -1;
  if (long >= 0) throw new IsoformError(`${faces![long].length} faces along ${AXES[long]}: a file takes ${MOST_FACES} at most`);
  const { origin, spacing }: Geometry = faces
    ? { origin: faces.map(([first]) => first), spacing: faces.map((values) => (values.at(-1)! - values[0]) / (values.length - 1)) }
    : (geometry as Geometry);
  return {
    // The standard has no name for boxes with cells of any widths; their faces stand beside.
    geometry: faces ? "other" : "cartesian",
    dataOrder: "C",
    axisLabels: AXES.slice(0, extents.length).reverse(),
    gridSpacing: reversed(spacingOf({ spacing })),
    gridGlobalOffset: reversed(originOf({ origin })),
    gridUnitSI: 1,
    ...Object.fromEntries((faces ?? []).map((values, axis) => [FACES[axis], values])),
  };
}

/** Attributes of meshes whose cells are of any widths: where these begin and the last one ends. */
export const FACES = AXES.map((axis) => `faces_${axis}`);

/** A snapshot as it was read: all values are there, constants as numbers. */
export interface SnapshotRead {
  readonly step: number;
  readonly time: number;
  readonly dt: number;
  readonly meshes: Readonly<Record<string, MeshRead>>;
  readonly species: Readonly<Record<string, Readonly<Record<string, RecordRead>>>>;
}
/** Values that were read: an array, one number where all are equal, or these by component. */
export type RecordRead = TypedArray | number | Readonly<Record<string, TypedArray | number>>;
/** A mesh that was read: where its cells are, and their values. */
export interface MeshRead {
  readonly extents: readonly number[];
  readonly origin: readonly number[];
  /** Size of a cell; its mean where there are faces. */
  readonly spacing: readonly number[];
  /** Faces along each axis, x first, where cells have any widths. */
  readonly faces?: readonly Float64Array[];
  readonly values: RecordRead;
}

/** Reads the snapshots of an openPMD file, by their steps. Throws IsoformError for another file. */
export function readOpenPmd(path: string): Promise<SnapshotRead[]> {
  return readHdf5(path, (root) => iterationsOf(root, path).map(({ step, content }) => snapshotOf(step, content)));
}

/** The iterations of an open file in order. Throws IsoformError for a file that is not openPMD's or has them elsewhere. */
export function iterationsOf(root: Group, path: string): { step: number; content: Group }[] {
  const { openPMD, iterationEncoding } = root.attributes;
  if (openPMD === undefined || iterationEncoding !== "groupBased" || !root.groups.data)
    throw new IsoformError(`${path} is not an openPMD file with its iterations as groups`);
  return Object.entries(root.groups.data.groups)
    .map(([step, content]) => ({ step: Number(step), content }))
    .sort((a, b) => a.step - b.step);
}

function snapshotOf(step: number, { attributes, groups }: Group): SnapshotRead {
  const { time, dt } = attributes as { time: number; dt: number };
  const meshes = Object.entries(childrenOf(groups.meshes)).map(([name, record]) => [name, meshOf(record)] as const);
  const species = Object.entries(groups.particles?.groups ?? {}).map(([name, particles]) => {
    const records = Object.entries(childrenOf(particles)).map(([key, record]) => [key, valuesOf(record)] as const);
    return [name, Object.fromEntries(records)] as const;
  });
  return { step, time, dt, meshes: Object.fromEntries(meshes), species: Object.fromEntries(species) };
}

const childrenOf = (parent: Group | undefined): Record<string, Group | Dataset> => ({ ...parent?.groups, ...parent?.datasets });

function meshOf(record: Group | Dataset): MeshRead {
  const [first] = "read" in record ? [record] : Object.values(childrenOf(record));
  const reversed = (name: string): number[] => Array.from(record.attributes[name] as Float64Array).reverse();
  const extents = ("read" in first ? [...first.shape] : Array.from(first.attributes.shape as BigUint64Array, Number)).reverse();
  const mesh = { extents, origin: reversed("gridGlobalOffset"), spacing: reversed("gridSpacing"), values: valuesOf(record) };
  const faces = FACES.flatMap((name) => (record.attributes[name] === undefined ? [] : [record.attributes[name] as Float64Array]));
  return faces.length > 0 ? { ...mesh, faces } : mesh;
}

function valuesOf(record: Group | Dataset): RecordRead {
  if ("read" in record) {
    const values = record.read();
    if (values instanceof BigInt64Array)
      throw new IsoformError("openPMD: a record has 64-bit integers: isoform reads 32-bit ones, and floats");
    return values;
  }
  if (isConstant(record.attributes)) return record.attributes.value;
  return Object.fromEntries(
    Object.entries(childrenOf(record)).map(([name, component]) => [name, valuesOf(component) as TypedArray | number]),
  );
}

const isConstant = (attributes: Read): attributes is { value: number } => attributes.value !== undefined && attributes.shape !== undefined;
