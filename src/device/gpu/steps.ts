/** What a kernel's parameters, or the fields of a shader's block, are given, by key; see `KernelParam`. */
export type Values = Readonly<Record<string, number | boolean | undefined>>;

/** The value of a parameter; each must have one. */
export function valueOf(values: Values, key: string): number {
  const value = values[key];
  if (value === undefined) throw new Error(`no value for the kernel parameter "${key}"`);
  return Number(value);
}

/** One piece of work for a stream, given by its handle. */
export interface Step {
  enqueue(stream: number): void;
  /** Gives back what the step holds of the driver. */
  free?(): void;
}

export interface Shape {
  /** Blocks, along x, y and z. */
  grid: readonly [number, number, number];
  /** Threads of a block. */
  block: readonly [number, number, number];
  /** Dynamic shared memory in bytes. */
  shared?: number;
}

/** Blocks of `size` that cover `count`. */
export const blocks = (count: number, size: number): number => Math.ceil(count / size);
