import { noiseValue } from "../../src/testing/values.js";

/** Complex numbers as pairs. */
export const noisePairs = (count: number, key = 0): Float64Array =>
  Float64Array.from({ length: 2 * count }, (_, k) => 2 * noiseValue(k + 0.37 * key) - 1);

/** The transform along one axis by its definition, of pairs. */
export function plainDft(pairs: ArrayLike<number>, shape: readonly number[], axis: number, inverse = false): Float64Array {
  const n = shape[axis];
  const inner = shape.slice(axis + 1).reduce((a, b) => a * b, 1);
  const sign = inverse ? 1 : -1;
  const roots = Array.from({ length: n }, (_, k) => {
    // Differences from whole quarters of a turn, so that the roots are right to the last digit.
    const quarters = Math.round((4 * k) / n);
    const angle = (Math.PI / 2) * ((4 * k - quarters * n) / n);
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    const [re, im] = [
      [c, s],
      [-s, c],
      [-c, -s],
      [s, -c],
    ][quarters % 4];
    return [re, sign * im];
  });
  const result = new Float64Array(pairs.length);
  for (let line = 0; line < pairs.length / 2 / n; line++) {
    const begin = Math.floor(line / inner) * n * inner + (line % inner);
    for (let k = 0; k < n; k++) {
      let [re, im] = [0, 0];
      for (let j = 0; j < n; j++) {
        const [x, y] = [pairs[2 * (begin + j * inner)], pairs[2 * (begin + j * inner) + 1]];
        const [c, s] = roots[(j * k) % n];
        re += x * c - y * s;
        im += x * s + y * c;
      }
      result[2 * (begin + k * inner)] = inverse ? re / n : re;
      result[2 * (begin + k * inner) + 1] = inverse ? im / n : im;
    }
  }
  return result;
}

/** L2 norm of the difference over that of the expected numbers. */
export function relativeError(found: ArrayLike<number>, expected: ArrayLike<number>): number {
  let [error, all] = [0, 0];
  for (let k = 0; k < expected.length; k++) {
    error += (found[k] - expected[k]) ** 2;
    all += expected[k] ** 2;
  }
  return found.length === expected.length ? Math.sqrt(error / all) : NaN;
}
