/*
 * Binomial checkpointing: A. Griewank, A. Walther, "Algorithm 799: revolve", ACM TOMS 26 (2000) 19-45. The reverse of n iterations needs the state before each,
 * last iteration first. With s snapshots, the state at the start being one of them, iterations are run again from the nearest snapshot before.
 */

/** One action of a reverse run. `advance` runs iterations without keeping anything; `reverse` runs iteration `at` with its values kept, and back. */
type ReverseAction =
  | { readonly kind: "advance"; readonly from: number; readonly to: number }
  | { readonly kind: "save" | "restore" | "drop" | "reverse"; readonly at: number };

/** The number of ways to choose `k` of `n` things. */
function binomial(n: number, k: number): number {
  let ways = 1;
  for (let i = 1; i <= k; i++) ways = Math.round((ways * (n - k + i)) / i);
  return ways;
}

/** The least r with C(s + r, s) >= n: how often any iteration is run before the run that keeps its values, at most. */
function repetitions(iterations: number, snapshots: number): number {
  let r = 0;
  while (binomial(snapshots + r, snapshots) < iterations) r++;
  return r;
}

/**
 * The least number of iterations that are run beside those whose values are kept: r n - C(s + r, s + 1).
 * @param iterations n, 0 or more
 * @param snapshots s, 1 or more, the start's included
 */
export function extraIterations(iterations: number, snapshots: number): number {
  if (iterations <= 1) return 0;
  const s = Math.min(snapshots, iterations);
  const r = repetitions(iterations, s);
  return r * iterations - binomial(s + r, s + 1);
}

/** Iterations before the next snapshot: one of the best places, found from the closed form in O(log n) as both sides cost convexly. */
function firstPart(iterations: number, snapshots: number): number {
  const cost = (m: number): number => m + extraIterations(iterations - m, snapshots - 1) + extraIterations(m, snapshots);
  let [low, high] = [1, iterations - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (cost(middle) <= cost(middle + 1)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The actions of a reverse run over `iterations` with `snapshots` states at most, with the fewest iterations. The state at the start is held at first. */
export function* reverseSchedule(iterations: number, snapshots: number): Generator<ReverseAction, void, undefined> {
  if (iterations === 0) return;
  yield { kind: "save", at: 0 };
  yield* reversePart(0, iterations, snapshots - 1);
  yield { kind: "drop", at: 0 };
}

/** The same of iterations [from, to), whose first state is saved and held. @param free snapshots that are left */
function* reversePart(from: number, to: number, free: number): Generator<ReverseAction, void, undefined> {
  if (to - from === 1) return yield { kind: "reverse", at: from };
  if (free === 0) {
    for (let at = to - 1; at >= from; at--) {
      if (at < to - 1) yield { kind: "restore", at: from };
      if (at > from) yield { kind: "advance", from, to: at };
      yield { kind: "reverse", at };
    }
    return;
  }
  const middle = from + firstPart(to - from, free + 1);
  yield { kind: "advance", from, to: middle };
  yield { kind: "save", at: middle };
  yield* reversePart(middle, to, free - 1);
  yield { kind: "drop", at: middle };
  yield { kind: "restore", at: from };
  yield* reversePart(from, middle, free);
}
