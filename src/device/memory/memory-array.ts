import { codingOf, ELEMENTS, isWide } from "../../ir/scalars.js";
import type { ElementType, NumberElement } from "../../ir/types.js";
import { typedArray, type TypedArray, type TypedArrayOf } from "./view.js";

/* Elements as they lie in memory, where floats of 16 bits are words, and as host arrays hold them. Of i64 and u64 both hold bigints, whatever the types say of arrays of unknown elements. */

type MemoryArrays = { [T in ElementType]: (typeof ELEMENTS)[T]["storage"]["prototype"] };
/** A typed array over memory with elements of a type: of the values, or of their bits. */
export type MemoryArrayOf<T extends ElementType> = [ElementType] extends [T] ? MemoryArrays[NumberElement] : MemoryArrays[T];
/** The same for any type. */
export type MemoryArray = MemoryArrayOf<ElementType>;

/** A typed array over memory with `length` elements. */
export function memoryArray<T extends ElementType>(type: T, memory: ArrayBufferLike, byteOffset: number, length: number): MemoryArrayOf<T> {
  return new ELEMENTS[type as NumberElement].storage(memory as ArrayBuffer, byteOffset, length) as unknown as MemoryArrayOf<T>;
}

/** A copy of host data for elements of a type: the caller may change its own as soon as it has handed them over. */
export const keptData = (type: ElementType, data: ArrayLike<number>): ArrayLike<number> =>
  isWide(type) ? Array.from(data) : Float64Array.from(data);

/** Sets elements in memory to the values of host data from `first` on, as many as `target` has. */
export function setStored(type: ElementType, target: MemoryArray, data: ArrayLike<number>, first = 0): void {
  const coding = codingOf(type);
  const { length } = target;
  if (coding) for (let n = 0; n < length; n++) target[n] = coding.bitsOf(data[first + n]);
  else if (ArrayBuffer.isView(data)) target.set((data as TypedArray).subarray(first, first + length));
  else for (let n = 0; n < length; n++) target[n] = data[first + n];
}

/** Puts the values of elements in memory into a host array, from `first` on. */
export function takeStored(type: ElementType, source: MemoryArray, target: TypedArray, first = 0): void {
  const coding = codingOf(type);
  if (coding) for (let n = 0; n < source.length; n++) target[first + n] = coding.valueOf(source[n]);
  else target.set(source, first);
}

/** A host array with the values of elements in memory. The memory must not be used otherwise afterwards. */
export function hostValues<T extends ElementType>(type: T, source: MemoryArrayOf<T>): TypedArrayOf<T> {
  if (!codingOf(type)) return source as unknown as TypedArrayOf<T>;
  const values = typedArray(type, source.length);
  takeStored(type, source as MemoryArray, values as TypedArray);
  return values;
}
