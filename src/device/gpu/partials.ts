import { unreachable } from "../../base/unreachable.js";
import { REDUCTION_CHUNK, type NumericType } from "../../ir/types.js";
import type { RangePolicy } from "../launch/policy.js";

interface Reduced {
  readonly name: string;
  readonly type: NumericType;
}

/** Chunks of a line of a range: its elements along the last axis. */
const chunksOfLine = ({ extents }: RangePolicy): number => Math.ceil(extents.at(-1)! / REDUCTION_CHUNK);

/** Chunks of a range, which never go over the end of a line. */
const chunksOf = (policy: RangePolicy): number => policy.extents.slice(0, -1).reduce((a, b) => a * b, chunksOfLine(policy));

/** Chunks of a range before the chunks of a piece that was cut off along the first axis: they lie in row-major order. */
export function chunksBefore(piece: RangePolicy, { begin, extents }: RangePolicy): number {
  const rows = piece.begin[0] - begin[0];
  return extents.length === 1 ? rows / REDUCTION_CHUNK : rows * (chunksOf(piece) / Math.max(1, piece.extents[0]));
}

/** The values of reduce parameters, which lie 8 bytes apart. */
export function decodeResults(
  reduces: readonly Reduced[],
  bytes: ArrayBufferLike,
  f64 = (data: DataView, at: number): number => data.getFloat64(at, true),
): Record<string, number | bigint> {
  const data = new DataView(bytes);
  const decode = (type: NumericType, at: number): number | bigint => {
    switch (type) {
      case "f64":
        return f64(data, at);
      case "f32":
        return data.getFloat32(at, true);
      case "i32":
        return data.getInt32(at, true);
      case "u32":
        return data.getUint32(at, true);
      case "i64":
        return data.getBigInt64(at, true);
      case "u64":
        return data.getBigUint64(at, true);
      default:
        return unreachable(type);
    }
  };
  return Object.fromEntries(reduces.map(({ name, type }, n) => [name, decode(type, 8 * n)]));
}
