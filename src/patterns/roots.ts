/** Cosine and sine of k of n parts of a full turn, 0 <= k < n. The angle is brought below an eighth of a turn first, so both are right to the last digit or two. */
function partOfTurn(k: number, n: number): [cosine: number, sine: number] {
  const quarters = Math.round((4 * k) / n);
  const angle = (Math.PI / 2) * ((4 * k - quarters * n) / n);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  // Differences, since a negated 0 would be -0.
  return (
    [
      [c, s],
      [0 - s, c],
      [0 - c, 0 - s],
      [s, 0 - c],
    ] as [number, number][]
  )[quarters % 4];
}

/** exp(-2 pi i k / n) */
export function rootOfUnity(k: number, n: number): [re: number, im: number] {
  const [c, s] = partOfTurn(k, n);
  return [c, 0 - s];
}

/** exp(-pi i j^2 / n) for j from 0 to n - 1. The squares are counted up modulo 2 n, so that they are exact. */
export function chirpOf(n: number): [re: number, im: number][] {
  const chirp: [number, number][] = [];
  for (let j = 0, square = 0; j < n; j++) {
    chirp.push(rootOfUnity(square, 2 * n));
    square = (square + 2 * j + 1) % (2 * n);
  }
  return chirp;
}
