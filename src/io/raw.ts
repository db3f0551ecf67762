import { open } from "node:fs/promises";
import { BYTES, typedArray, type TypedArray, type NumberArrayOf } from "../device/memory/view.js";
import type { Field } from "../domain/grid/grid.js";
import { hostType } from "../ir/scalars.js";
import type { FieldType } from "../domain/grid/options.js";
import { IsoformError } from "../base/errors.js";
import { spansProcesses } from "../set/index.js";
import { atPlaces } from "./blocks.js";
import { isForFile } from "./by-ranks.js";
import { ownBlocks, ownParts, sourcesOf } from "./fields.js";
import { fail, readAll, writeTogether } from "./files.js";
import { writeAtPlaces } from "./shared-file.js";
import type { ArraySource } from "./vtk-file.js";

/**
 * Writes a field's values as they are: little-endian, in (z, y, x, k) order, without a header. More than 32 MiB are read some planes at a time as they
 * are written: LaunchError if they change before that. Several processes write the same file, each the cells of its members.
 */
export async function writeRaw(path: string, field: Field): Promise<void> {
  const { set } = field.grid;
  const { ranks } = set;
  if (!ranks || !spansProcesses(set) || !(await isForFile(ranks, path))) {
    const [{ pieces }] = await sourcesOf([field]);
    return writeTogether(set, path, mapped(pieces(), bytesOf));
  }
  const parts: ArraySource[] = [];
  for (const part of ownParts(field.grid)) parts.push(...(await sourcesOf([field], part)));
  async function* values(): AsyncGenerator<TypedArray> {
    for (const { pieces } of parts) yield* pieces();
  }
  const element = BYTES[hostType(field.type)];
  const placed = atPlaces(values(), ownBlocks(field));
  await writeAtPlaces(
    ranks,
    path,
    field.length * element,
    mapped(placed, ({ first, values: some }) => ({ position: first * element, bytes: bytesOf(some) })),
  );
}

const bytesOf = ({ buffer, byteOffset, byteLength }: TypedArray): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);

async function* mapped<T, R>(all: Iterable<T> | AsyncIterable<T>, to: (each: T) => R): AsyncGenerator<R> {
  for await (const each of all) yield to(each);
}

/** Sets a field from a file of `writeRaw`, some planes at a time. Throws IsoformError for a file of another length. */
export async function readRaw(path: string, field: Field): Promise<void> {
  const unreadable = (error: Error): never => fail(path, "read", error);
  const file = await open(path, "r").catch(unreadable);
  try {
    const stat = await file.stat();
    // Pipes are read whole.
    const piped = stat.isFile() ? undefined : new Uint8Array(await file.readFile().catch(unreadable));
    const length = piped?.length ?? stat.size;
    const type = hostType(field.type);
    const expected = field.length * BYTES[type];
    if (length !== expected)
      throw new IsoformError(
        `${path} has ${length} bytes; field "${field.name}" takes ${expected}, ${field.cardinality} ${type} for each cell of [${field.grid.extents}]`,
      );
    const plane = field.grid.planeLength(field);
    await field.uploadPlanes(async (first, end) => {
      const values = typedArray(field.type, (end - first) * plane) as NumberArrayOf<FieldType>;
      const bytes = new Uint8Array(values.buffer);
      const position = first * plane * BYTES[type];
      if (piped) bytes.set(piped.subarray(position, position + bytes.length));
      else await readAll(file, bytes, position).catch(unreadable);
      return values;
    });
  } finally {
    await file.close();
  }
}
