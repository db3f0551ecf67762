/**
 * The upper 32 bits of the 64-bit product of two unsigned numbers. Hand it to a kernel as a parameter: `kernel("k", { mulhi, ... }, ...)`;
 * the compiler knows it and emits the device's own instruction.
 */
export function mulhi(a: number, b: number): number {
  // In halves of 16 bits, so that every sum is exact.
  const [aHigh, aLow, bHigh, bLow] = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff];
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const carry = aLow * bHigh + (middle % 65536);
  return aHigh * bHigh + Math.floor(middle / 65536) + Math.floor(carry / 65536);
}
