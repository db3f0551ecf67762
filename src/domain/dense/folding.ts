import type { Device, Launch, Precision } from "../../device/device.js";
import { range, type Policy } from "../../device/launch/policy.js";
import { View } from "../../device/memory/view.js";
import { LaunchError } from "../../base/errors.js";
import type { NumberType } from "../../ir/types.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import { i32, type Params } from "../../kernel/declare/params.js";
import type { Pushed } from "../container/fold-order.js";
import type { AxisFold, Container } from "../grid/grid.js";
import { axisFoldKernels, type AxisFoldKernels } from "./axis-fold-kernels.js";

/** Entries of results in memory: [block][entry][value of the block]. The last block may have fewer values, and places that nothing uses. */
export class Stack {
  /** Values of a block. */
  readonly block: number;

  /**
   * @param all memory for blocks * capacity * ceil(values / blocks) values
   * @param capacity entries for which there is room
   */
  constructor(
    readonly all: View,
    readonly values: number,
    readonly blocks: number,
    readonly capacity: number,
  ) {
    this.block = Math.ceil(values / blocks);
  }

  /** Some entries of a block. */
  entries(block: number, first: number, count: number): View {
    const start = (block * this.capacity + first) * this.block;
    return this.all.slice([start, start + count * this.block]);
  }
}

/** How rows of values become items: rows of each item (of the last one maybe fewer), rows in all, and lanes of each value. */
interface Items {
  readonly perItem: number;
  readonly count: number;
  readonly lanes: number;
}

/** Prepares launches on one member that combine results, and holds what they need. */
export class FoldLaunches {
  private readonly launches: Launch[] = [];
  private readonly memory: View[] = [];

  constructor(
    protected readonly container: Container,
    protected readonly precision: Precision,
    protected readonly device: Device,
  ) {}

  /** Memory for values of reduction `n`. Throws LaunchError where they are too many. */
  array(n: number, length: number): View {
    const { array } = this.foldOf(n);
    if (length >= 2 ** 31)
      throw new LaunchError(
        `container "${this.container.name}" needs ${length} values on one device while it reduces into "${array.name}", and 2^31 is too many; ` +
          "reduce fewer components at a time, or into fewer places",
      );
    return this.held(this.device.array({ type: array.type }, length));
  }

  /** Memory for entries of reduction `n`. */
  stack(n: number, values: number, blocks: number, capacity: number): Stack {
    return new Stack(this.array(n, blocks * capacity * Math.ceil(values / blocks)), values, blocks, capacity);
  }

  /** Pushes items, `rows` as [row][value][lane], onto the `height` entries of a stack. By default each row is an item without lanes. */
  push(n: number, stack: Stack, height: number, rows: View, { merges }: Pick<Pushed, "merges">, given?: Items): Launch {
    const { values: each, block, blocks, capacity } = stack;
    const of = given ?? { perItem: 1, count: merges.length, lanes: 1 };
    const table = this.held(this.device.from(i32, merges));
    const args = { stack: stack.all, capacity, rows, merges: table, height, each, block, items: merges.length, ...of };
    // Indices follow from the plan, and checks would take time: `array` keeps them below 2^31.
    return this.prepare(this.kernels(n).push, args, range(blocks, block), { checked: false });
  }

  /** Folds `height` entries, [entry][value], into results: the last two first. */
  root(n: number, entries: View, height: number, into: View, accumulating: boolean): Launch {
    const [, n1, n2, n3] = into.shape;
    const args = { into, stack: entries, n1, n2, n3, each: entries.size / height, height, old: this.old(n, accumulating) };
    return this.prepare(this.kernels(n).root, args, range(...into.shape));
  }

  free(): void {
    for (const launch of this.launches) launch.free();
    for (const view of this.memory) view.free();
  }

  protected foldOf(n: number): AxisFold {
    return this.container.axisFolds![n];
  }

  protected old(n: number, accumulating: boolean): number {
    return accumulating && this.foldOf(n).accumulate ? 1 : 0;
  }

  protected kernels(n: number): AxisFoldKernels {
    const { op, array } = this.foldOf(n);
    return axisFoldKernels(op, array.type as NumberType);
  }

  protected prepare(kernel: Kernel, args: Record<string, unknown>, policy: Policy, options: { checked?: false } = {}): Launch {
    const launch = this.device.prepare<Params>(kernel, args, policy, { precision: this.precision, ...options });
    this.launches.push(launch);
    return launch;
  }

  private held(view: View): View {
    this.memory.push(view);
    return view;
  }
}
