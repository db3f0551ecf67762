import type { Dataset as H5Dataset, Group as H5Group } from "h5wasm/node";
import { open, stat } from "node:fs/promises";
import { typedArray, type TypedArray } from "../device/memory/view.js";
import type { NumberElement } from "../ir/types.js";
import { IsoformError } from "../base/errors.js";
import { fail } from "./files.js";

/*
 * Trees of groups and datasets in HDF5 files, by the package h5wasm: HDF5's own library, compiled to WebAssembly. Datasets go piece by piece,
 * so that a file may be larger than that library's memory.
 */

type H5Wasm = typeof import("h5wasm/node");

/** Bytes of a dataset that are handed over at once. */
const PIECE = 8 << 20;
const MAGIC = "\x89HDF\r\n\x1a\n";

/** Numbers are f64 and single, those wrapped are u32; texts are single, or lists. */
export type Attribute = number | { readonly u32: number } | string | readonly string[] | Float64Array | BigUint64Array;
/** Attributes of a group or dataset, by name. */
export type Attributes = Readonly<Record<string, Attribute>>;

/** A dataset to be written: its values, or what makes them when their turn comes. */
export interface NewDataset {
  readonly shape: readonly number[];
  readonly data: TypedArray | BigInt64Array | (() => Promise<TypedArray | BigInt64Array>);
  readonly attributes?: Attributes;
}

/** A group to be written. */
export interface NewGroup {
  readonly attributes?: Attributes;
  readonly groups?: Readonly<Record<string, NewGroup>>;
  readonly datasets?: Readonly<Record<string, NewDataset>>;
}

/** Attributes as they are read: numbers, texts, and arrays of them. */
export type Read = Readonly<Record<string, unknown>>;

/** A dataset of an open file. */
export interface Dataset {
  readonly shape: readonly number[];
  readonly type: NumberElement | "i64";
  readonly attributes: Read;
  read(): TypedArray | BigInt64Array;
}

/** A group of an open file. */
export interface Group {
  readonly attributes: Read;
  readonly groups: Readonly<Record<string, Group>>;
  readonly datasets: Readonly<Record<string, Dataset>>;
}

/** Says why HDF5 files cannot be written and read, and what would help; undefined if they can. */
export async function hdf5Missing(): Promise<{ reason: string; remedy: string } | undefined> {
  try {
    await library();
    return undefined;
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";
    const reason = absent ? "is not installed" : `does not load: ${(error as Error).message}`;
    return { reason: `the package h5wasm ${reason}`, remedy: "npm install h5wasm" };
  }
}

/** Throws IsoformError if a file cannot be written or read as HDF5, such as a pipe. */
export async function requireHdf5(path: string): Promise<void> {
  const missing = await hdf5Missing();
  if (missing) throw new IsoformError(`${path} is an HDF5 file, and ${missing.reason}: ${missing.remedy}`);
  const there = await stat(path).catch(() => undefined);
  if (there && !there.isFile())
    throw new IsoformError(`${path} is ${there.isDirectory() ? "a folder" : "a pipe or a device"}, and HDF5 needs a file: name another`);
}

async function library(): Promise<H5Wasm> {
  const module = await import("h5wasm/node");
  await module.ready;
  return module;
}

async function load(path: string): Promise<H5Wasm> {
  await requireHdf5(path);
  return library();
}

/**
 * Writes a tree of groups, datasets and attributes into a new file, or adds its groups to an existing one. Numbers become datasets of f64, f32, i32, u32, u8
 * and 64-bit integers. Throws IsoformError, also where the package h5wasm is missing.
 */
export async function writeHdf5(path: string, tree: NewGroup, mode: "new" | "add"): Promise<void> {
  const { File } = await load(path);
  // HDF5 itself would print a page about what is wrong.
  if (mode === "add") await requireMagic(path);
  else await (await open(path, "w").catch((error: Error) => fail(path, "written", error))).close();
  const file = mode === "add" ? await undamaged(path, () => new File(path, "a")) : new File(path, "w");
  try {
    await put(file, tree);
  } finally {
    file.close();
  }
}

/**
 * Runs a function that reads a file. Errors of HDF5 become an IsoformError that names the file; HDF5 itself would print its stack and go on with
 * missing data.
 */
async function undamaged<R>(path: string, read: () => R): Promise<R> {
  const module = await (await library()).ready;
  module.activate_throwing_error_handler();
  try {
    return read();
  } catch (error) {
    if (error instanceof IsoformError) throw error;
    throw new IsoformError(`${path} is damaged: it begins like an HDF5 file, but HDF5 cannot read the rest; write it again`);
  } finally {
    module.deactivate_throwing_error_handler();
  }
}

async function put(group: H5Group, { attributes = {}, groups = {}, datasets = {} }: NewGroup): Promise<void> {
  describe(group, attributes);
  for (const [name, dataset] of Object.entries(datasets)) describe(await putDataset(group, name, dataset), dataset.attributes ?? {});
  for (const [name, child] of Object.entries(groups)) {
    const there = group.keys().includes(name) ? (group.get(name) as H5Group) : group.create_group(name);
    await put(there, child);
  }
}

function describe(thing: H5Group | H5Dataset, attributes: Attributes): void {
  const old = Object.keys(attributes).length > 0 ? Object.keys(thing.attrs) : [];
  for (const [name, value] of Object.entries(attributes)) {
    if (old.includes(name)) thing.delete_attribute(name);
    if (typeof value === "number") thing.create_attribute(name, value, null, "<d");
    else if (typeof value === "object" && "u32" in value) thing.create_attribute(name, value.u32, null, "<I");
    else if (ArrayBuffer.isView(value)) thing.create_attribute(name, value);
    else thing.create_attribute(name, typeof value === "string" ? value : [...value], null, textType(value));
  }
}

/** Texts have a fixed length: not all programs read others. */
const textType = (text: string | readonly string[]): string => `S${Math.max(1, ...[text].flat().map((each) => Buffer.byteLength(each)))}`;

async function putDataset(group: H5Group, name: string, { shape, data: source }: NewDataset): Promise<H5Dataset> {
  const data = typeof source === "function" ? await source() : source;
  if (data.byteLength <= PIECE) return group.create_dataset({ name, data, shape: [...shape] });
  const [length, ...rest] = shape;
  const row = rest.reduce((a, b) => a * b, 1);
  const rows = Math.max(1, Math.floor(PIECE / data.BYTES_PER_ELEMENT / row));
  const piece = (from: number): TypedArray | BigInt64Array => data.subarray(from * row, (from + rows) * row);
  const head = { shape: [Math.min(rows, length), ...rest], maxshape: [...shape], chunks: [Math.min(rows, length), ...rest] };
  const dataset = group.create_dataset({ name, data: piece(0), ...head });
  dataset.resize([...shape]);
  const all = rest.map(() => [] as []);
  for (let from = rows; from < length; from += rows) dataset.write_slice([[from, Math.min(length, from + rows)], ...all], piece(from));
  return dataset;
}

/** Opens a file for `use`, which gets its root. Throws IsoformError for a file that is not HDF5, or is damaged. */
export async function readHdf5<R>(path: string, use: (root: Group) => R): Promise<R> {
  const { File } = await load(path);
  await requireMagic(path);
  return undamaged(path, () => {
    const file = new File(path, "r");
    try {
      return use(seen(file));
    } finally {
      file.close();
    }
  });
}

function seen(group: H5Group): Group {
  const groups: Record<string, Group> = {};
  const datasets: Record<string, Dataset> = {};
  for (const name of group.keys()) {
    const child = group.get(name) as H5Group | H5Dataset;
    if (child.type === "Group") groups[name] = seen(child as H5Group);
    if (child.type === "Dataset") datasets[name] = seenDataset(child as H5Dataset);
  }
  return { attributes: attributesOf(group), groups, datasets };
}

const TYPES: Readonly<Record<string, NumberElement | "i64">> = { d: "f64", f: "f32", i: "i32", I: "u32", B: "u8", q: "i64" };

function seenDataset(dataset: H5Dataset): Dataset {
  const shape = dataset.shape ?? [];
  const type = TYPES[String(dataset.dtype).slice(-1)];
  if (type === undefined)
    throw new IsoformError(
      `HDF5: the dataset ${dataset.path} has values of the type ${dataset.dtype}: isoform reads ${Object.values(TYPES).join(", ")}`,
    );
  const read = (): TypedArray | BigInt64Array => {
    const [length, ...rest] = shape;
    const row = rest.reduce((a, b) => a * b, 1);
    const data = type === "i64" ? new BigInt64Array(length * row) : typedArray(type, length * row);
    const rows = Math.max(1, Math.floor(PIECE / data.BYTES_PER_ELEMENT / row));
    const all = rest.map(() => [] as []);
    for (let from = 0; from < length; from += rows)
      (data as Float64Array).set(dataset.slice([[from, Math.min(length, from + rows)], ...all]) as Float64Array, from * row);
    return data;
  };
  return { shape, type, attributes: attributesOf(dataset), read };
}

const attributesOf = ({ attrs }: H5Group | H5Dataset): Read =>
  Object.fromEntries(Object.entries(attrs).map(([name, attribute]) => [name, attribute.value]));

async function requireMagic(path: string): Promise<void> {
  const file = await open(path, "r").catch((error: Error) => fail(path, "read", error));
  try {
    const { buffer } = await file.read(Buffer.alloc(MAGIC.length), { position: 0 });
    if (buffer.toString("latin1") !== MAGIC) throw new IsoformError(`${path} is not an HDF5 file: it does not begin with the signature`);
  } finally {
    await file.close();
  }
}
