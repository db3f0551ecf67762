import type { Field } from "../domain/grid/grid.js";
import { BYTES, typedArray } from "../device/memory/view.js";
import { IsoformError } from "../ir/errors.js";
import { readBytes, writePieces } from "./files.js";

/** Writes a field's values as they are: little-endian, in (z, y, x, k) order, without a header. */
export async function writeRaw(path: string, field: Field): Promise<void> {
  const { buffer, byteOffset, byteLength } = await field.download();
  await writePieces(path, [new Uint8Array(buffer, byteOffset, byteLength)]);
}

/** Sets a field from a file of `writeRaw`. Throws IsoformError for a file of another length. */
export async function readRaw(path: string, field: Field): Promise<void> {
  const bytes = await readBytes(path);
  const expected = field.length * BYTES[field.type];
  if (bytes.length !== expected)
    throw new IsoformError(
      `${path} has ${bytes.length} bytes; field "${field.name}" takes ${expected}, ${field.cardinality} ${field.type} for each cell of [${field.grid.extents}]`,
    );
  field.upload(typedArray(field.type, new Uint8Array(bytes).buffer, 0, field.length));
}
