import type { MarketArray, MarketCoordinates, MarketSymmetry } from "../../../src/io/index.js";

/** Numbers of all magnitudes and both signs, with the special ones that files can hold. */
export function randomValue(random: () => number): number {
  const special = [0, -0, 1, -1, 5e-324, Number.MAX_VALUE, 0.1, 1 / 3];
  if (random() < 0.2) return special[Math.floor(random() * special.length)];
  return (random() - 0.5) * 10 ** Math.floor(random() * 40 - 20);
}

/** Coordinates of a matrix with the symmetry, at most one for a place, in any order. */
export function randomCoordinates(
  random: () => number,
  shape: readonly [number, number],
  symmetry: MarketSymmetry,
  isComplex: boolean,
): MarketCoordinates {
  const elements: [number, number, number, number][] = [];
  for (let row = 0; row < shape[0]; row++)
    for (let column = 0; column < shape[1]; column++) {
      if (random() < 0.6 || (symmetry !== "general" && row < column) || (symmetry === "skew-symmetric" && row === column)) continue;
      const [re, im] = [randomValue(random), isComplex && !(symmetry === "hermitian" && row === column) ? randomValue(random) : 0];
      elements.push([row, column, re, im]);
      if (symmetry === "general" || row === column) continue;
      const sign = symmetry === "skew-symmetric" ? -1 : 1;
      elements.push([column, row, sign * re, symmetry === "hermitian" ? -im : sign * im]);
    }
  for (let n = elements.length - 1; n > 0; n--) {
    const other = Math.floor(random() * (n + 1));
    [elements[n], elements[other]] = [elements[other], elements[n]];
  }
  const part = (n: number): Float64Array => Float64Array.from(elements, (element) => element[n]);
  const indices = (n: number): Int32Array => Int32Array.from(elements, (element) => element[n]);
  return { shape, rows: indices(0), columns: indices(1), values: part(2), ...(isComplex && { imaginary: part(3) }) };
}

/** All elements of the same matrix, row by row. */
export function denseOf({ shape, rows, columns, values, imaginary }: MarketCoordinates): MarketArray {
  const place = (part: ArrayLike<number>): Float64Array => {
    const all = new Float64Array(shape[0] * shape[1]);
    for (let n = 0; n < rows.length; n++) all[rows[n] * shape[1] + columns[n]] = part[n];
    return all;
  };
  return { shape, values: place(values), ...(imaginary && { imaginary: place(imaginary) }) };
}
