/** The sub-flows that are solved exactly: electric, magnetic, and the motion along each axis. */
export type SubFlow = "E" | "B" | "p1" | "p2" | "p3";

/** A flow over a share of the time step. */
export interface FlowShare {
  readonly flow: SubFlow;
  readonly share: number;
}

/** The adjoint of a composition of flows that are their own: the reverse order. */
const adjoint = (parts: readonly FlowShare[]): FlowShare[] => [...parts].reverse();
const scaled = (parts: readonly FlowShare[], by: number): FlowShare[] => parts.map(({ flow, share }) => ({ flow, share: share * by }));

const lie: readonly FlowShare[] = (["E", "B", "p1", "p2", "p3"] as const).map((flow) => ({ flow, share: 1 }));

/** E B p3 p2 p1 over half the step, and back: what costs least stands in the middle and at the ends, where halves meet. */
const STRANG_ORDER: readonly SubFlow[] = ["E", "B", "p3", "p2", "p1"];
const half: readonly FlowShare[] = STRANG_ORDER.map((flow) => ({ flow, share: 0.5 }));
const strang: readonly FlowShare[] = [...half, ...adjoint(half)];

/** Coefficient of the second-order composition of four Lie steps with the least error. */
const A = 0.1931833275037836;
const fourLie: readonly FlowShare[] = [
  ...scaled(lie, A),
  ...scaled(adjoint(lie), 0.5 - A),
  ...scaled(lie, 0.5 - A),
  ...scaled(adjoint(lie), A),
];

const OUTER = 1 / (2 - 2 ** (1 / 3));
const threeStrang: readonly FlowShare[] = [OUTER, 1 - 2 * OUTER, OUTER].flatMap((share) => scaled(strang, share));

const S = Math.sqrt(19);
/** McLachlan, SIAM J. Sci. Comput. 16 (1995), fourth order of ten Lie steps. */
const ALPHA = [(146 + 5 * S) / 540, (-2 + 10 * S) / 135, 1 / 5, (-23 - 20 * S) / 270, (14 - S) / 108];
const tenLie: readonly FlowShare[] = ALPHA.flatMap((alpha, i) => [...scaled(adjoint(lie), ALPHA[4 - i]), ...scaled(lie, alpha)]);

/** The splittings of a time step by name. */
export const COMPOSITIONS = {
  lie,
  strang,
  "4-lie": fourLie,
  "3-strang": threeStrang,
  "10-lie": tenLie,
} satisfies Record<string, readonly FlowShare[]>;
/**
 * How a time step is split into flows that are solved exactly: `lie` of first order, `strang` and `4-lie` (four Lie steps) of second, `3-strang` (three
 * Strang steps) and `10-lie` (ten Lie steps) of fourth.
 */
export type CompositionName = keyof typeof COMPOSITIONS;

/** The parts of a step that has only some flows, with those side by side joined, since the flows are exact. */
export function flowShares(composition: CompositionName, flows: readonly SubFlow[]): FlowShare[] {
  const joined: FlowShare[] = [];
  for (const part of COMPOSITIONS[composition]) {
    if (!flows.includes(part.flow)) continue;
    const last = joined.at(-1);
    if (last?.flow === part.flow) joined[joined.length - 1] = { flow: part.flow, share: last.share + part.share };
    else joined.push(part);
  }
  return joined;
}

/** Steps in a row: `start`, then `between` for each step more, then `end`. */
export interface Sequence {
  readonly start: readonly FlowShare[];
  readonly between: readonly FlowShare[];
  readonly end: readonly FlowShare[];
}

/** A step's last part and the next one's first are done at once where they are of one flow. */
export function sequenceOf(parts: readonly FlowShare[]): Sequence {
  const [first, last] = [parts[0], parts[parts.length - 1]];
  if (parts.length < 2 || first.flow !== last.flow) return { start: parts, between: parts, end: [] };
  const inner = parts.slice(1, -1);
  return { start: [first, ...inner], between: [{ flow: first.flow, share: last.share + first.share }, ...inner], end: [last] };
}
