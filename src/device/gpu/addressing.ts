import type { Binding } from "../launch/binding.js";
import type { View } from "../memory/view.js";

/** How a launch computes addresses. */
export interface Addressing {
  /** Indices and all addresses have 64 bits. */
  readonly wide: boolean;
  /** With 32-bit indices, by view and axis: whether products with the stride need 64 bits. Views whose offsets all fit are left out. */
  readonly far?: Readonly<Record<string, readonly boolean[]>>;
  readonly remark: string;
}

/** Largest count or index for which 32 bits are used; sums and steps of a grid stay below 2^31. */
const NARROW = 2 ** 30;
/** Offsets are sums of what each axis adds, none of which is beyond the view. */
const NARROW_OFFSET = 2 ** 31 - 1;

/** How far the elements of each axis reach. */
const reaches = ({ shape, strides }: View): number[] => shape.map((extent, axis) => Math.max(0, extent - 1) * Math.abs(strides[axis]));

const reach = (reaches: readonly number[]): number => reaches.reduce((sum, each) => sum + each, 1);

/** The axes that reach furthest, as few as leave an offset of 32 bits along the others. */
function farAxes(view: View): readonly boolean[] {
  const near = reaches(view);
  while (reach(near) > NARROW_OFFSET) near[near.indexOf(Math.max(...near))] = 0;
  return reaches(view).map((each, axis) => each !== near[axis]);
}

/**
 * Addresses of 64 bits cost registers, so only what is too large has them: of a field with several components each is mostly small enough, and the
 * way from one to the next is the same for all elements.
 */
export function addressingOf({ ir, policy, views }: Binding): Addressing {
  const indices =
    policy.kind === "team"
      ? [policy.league]
      : [
          policy.extents.reduce((a, b) => a * b, 1),
          ...policy.begin.map((begin, a) => Math.max(Math.abs(begin), begin + policy.extents[a])),
        ];
  const large = Object.entries(views).filter(([, view]) => reach(reaches(view)) > NARROW_OFFSET);
  const scattered = new Set(ir.params.filter(({ kind }) => kind === "scatter").map(({ name }) => name));
  const wide = [...indices, ...large.flatMap(([, { shape }]) => shape)].some((count) => count > NARROW);
  if (wide || large.some(([name]) => scattered.has(name)))
    return { wide: true, remark: "addresses: 64 bits, because a view or the range is large" };
  if (large.length === 0) return { wide: false, remark: "addresses: 32 bits" };
  const names = large.map(([name]) => name).join(", ");
  return {
    wide: false,
    far: Object.fromEntries(large.map(([name, view]) => [name, farAxes(view)])),
    remark: `addresses: 32 bits, and 64 along the longest axes of ${names}`,
  };
}
