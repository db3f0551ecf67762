import type { Policy, RangePolicy } from "../../ir/launch.js";
import type { Cost } from "../device.js";

/** Elements of a range. */
export const elementsIn = ({ extents }: Pick<RangePolicy, "extents">): number => extents.reduce((a, b) => a * b, 1);

/** Elements, or teams. */
export const elementCount = (policy: Policy): number => (policy.kind === "range" ? elementsIn(policy) : policy.league);

/** Work below which a launch runs on one thread. */
export interface Serial {
  readonly bytes: number;
  readonly flops: number;
}

/** Work of launches that differ in their range alone: in proportion to the elements of one that was counted. Counting takes longer than they run. */
export class WorkLike {
  private readonly elements: number;

  constructor(
    private readonly counted: () => Cost,
    policy: Policy,
    private readonly serial: Serial,
  ) {
    this.elements = elementCount(policy);
  }

  /** True where there is too little for several threads. */
  isSmall(policy: Policy): boolean {
    const times = policy.kind === "range" && this.elements > 0 ? elementsIn(policy) / this.elements : 1;
    const { bytes, flops } = this.counted();
    return times * bytes < this.serial.bytes && times * flops < this.serial.flops;
  }
}
