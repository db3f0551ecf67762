import { unreachable } from "../../base/unreachable.js";
import { BYTES, putValue, type ScalarType } from "../../ir/scalars.js";

/** A member of the struct through which a launch hands its arguments to a compiled kernel. */
export interface StructField<Slot> {
  /** Value that it holds, for the side that fills it in. */
  readonly slot: Slot;
  readonly name: string;
  readonly type: StructFieldType;
  /** As declared in C, without the name. */
  readonly declared: string;
  /** Number of elements of an array member, 1 for others. */
  readonly length: number;
  /** Bytes from the start of the struct. */
  readonly offset: number;
}

export type StructFieldType = "pointer" | "long" | ScalarType;

const SIZES: Record<StructFieldType, number> = { ...BYTES, pointer: 8, long: 8, bool: 1 };

/** The struct's members with their places: by falling size, so that C adds no padding between them. */
export function layOut<Slot>(members: readonly Omit<StructField<Slot>, "offset">[]): { fields: StructField<Slot>[]; size: number } {
  const sorted = [...members].sort((a, b) => SIZES[b.type] - SIZES[a.type]);
  let offset = 0;
  const fields = sorted.map((member) => {
    const field = { ...member, offset };
    offset += SIZES[member.type] * member.length;
    return field;
  });
  return { fields, size: Math.ceil(offset / 8) * 8 };
}

/** Writes one value, element `n` of an array member. */
export function setField(data: DataView, field: StructField<unknown>, value: number | bigint | boolean, n = 0): void {
  const at = field.offset + n * SIZES[field.type];
  if (field.type === "pointer" || field.type === "long") data.setBigInt64(at, BigInt.asIntN(64, BigInt(value)), true);
  else if (field.type === "bool") data.setUint8(at, Number(value));
  else putValue(data, field.type, at, value);
}

/** Reads a value back. */
export function getField(data: DataView, field: StructField<unknown>): number | bigint {
  switch (field.type) {
    case "f64":
      return data.getFloat64(field.offset, true);
    case "f32":
      return data.getFloat32(field.offset, true);
    case "i32":
      return data.getInt32(field.offset, true);
    case "u32":
      return data.getUint32(field.offset, true);
    case "bool":
      return data.getUint8(field.offset);
    case "i64":
      return data.getBigInt64(field.offset, true);
    case "u64":
      return data.getBigUint64(field.offset, true);
    case "pointer":
    case "long":
      return Number(data.getBigInt64(field.offset, true));
    default:
      return unreachable(field.type);
  }
}
