/**
 * The upper 32 bits of the 64-bit product of two unsigned numbers. Hand it to a kernel as a parameter: `kernel("k", { mulhi, ... }, ...)`;
 * the compiler knows it and emits the device's own instruction.
 */
export function mulhi(a: number, b: number): number {
  return Number((BigInt(a >>> 0) * BigInt(b >>> 0)) >> 32n);
}
