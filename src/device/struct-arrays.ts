import { LaunchError } from "../base/errors.js";
import { describe } from "../base/describe.js";
import { plainRecord, structOf, type StructFields, type StructToken, type StructType, type StructValue } from "../kernel/declare/struct.js";
import type { ArrayOptions, Device, StructArrays } from "./device.js";
import type { Shape } from "./memory/view.js";

/** A new array of records, all 0: a view for each field, `{ o, d, t }`, for a parameter `view(Ray)`. Throws LaunchError and DeviceError as `device.array` does. */
export const structArrays = <F extends StructFields>(
  device: Device,
  type: StructToken<F>,
  shape: Shape,
  options?: ArrayOptions,
): StructArrays<F> =>
  eachField(requireStruct(type).fields, (token) =>
    structOf(token) ? structArrays(device, token as unknown as StructToken, shape, options) : device.array(token, shape, options),
  );

/** The same, filled from a list of records. Throws LaunchError for other data. */
export function structArraysFrom<F extends StructFields>(
  device: Device,
  type: StructToken<F>,
  data: readonly StructValue<F>[],
  shape: Shape = data?.length ?? 0,
  options?: ArrayOptions,
): StructArrays<F> {
  const struct = requireStruct(type);
  if (!Array.isArray(data)) throw new LaunchError(`an array of ${struct.name} is given ${describe(data)}; give a list of records`);
  const records = data.map((value: unknown) => plainRecord(struct, value) as Record<string, never>);
  return eachField(struct.fields, (token, field) => {
    const values = records.map((record) => record[field]);
    return structOf(token)
      ? structArraysFrom(device, token as unknown as StructToken, values, shape, options)
      : device.from(token, values, shape, options);
  });
}

/** The type of records. Throws LaunchError for anything else. */
function requireStruct(type: unknown): StructType {
  const struct = structOf(type);
  if (struct) return struct;
  throw new LaunchError(`arrays of records are given ${describe(type)} for their type; give what struct(name, fields) has made`);
}

const eachField = <F extends StructFields>(fields: StructFields, make: (token: never, field: string) => unknown): StructArrays<F> =>
  Object.fromEntries(Object.entries(fields).map(([field, token]) => [field, make(token as never, field)])) as StructArrays<F>;
