import { foldGroups } from "../../ir/joint.js";
import type { ReduceParam } from "../../ir/types.js";
import {
  foldOfParam,
  foldPartials,
  foldPartialsJointly,
  type FoldedValue,
  type FoldFunction,
  type PartialValues,
} from "../cpu/partials.js";
import { cpuStorage, type Allocator, type CpuBuffer } from "../cpu/storage.js";
import { belowOf, hostArray, hostOf } from "../cpu/host-view.js";
import { BYTES, typedArray, type View } from "../memory/view.js";

/** A typed array of numbers or bigints. */
type FoldedArray = PartialValues & { readonly buffer: ArrayBufferLike; fill(value: FoldedValue): unknown };

/** The partial results of one reduce parameter: memory of its own that workers write and the calling thread folds. */
export class WasmPartials {
  private buffer: CpuBuffer;
  /** Undefined for a part of a joint reduction. */
  private readonly fold: FoldFunction | undefined;
  private readonly shared = cpuStorage().shared;
  private view: FoldedArray;
  private taker: FoldedArray | undefined;

  /**
   * @param byWorkers each worker has folded what it did; the others are folded by the strict rule
   * @param output takes the result
   */
  constructor(
    readonly param: ReduceParam,
    private count: number,
    private readonly byWorkers: boolean,
    private readonly output: View | undefined,
    private readonly allocate: Allocator,
  ) {
    this.buffer = allocate(count * BYTES[param.type]);
    this.fold = param.joint ? undefined : foldOfParam(param);
    this.view = this.newView();
    this.taker = output && (hostArray(output) as FoldedArray);
  }

  get bytes(): number {
    return this.buffer.bytes;
  }

  get address(): number {
    return this.buffer.address;
  }

  /** Takes another number of partials, and other memory where there is no room for them. */
  resize(count: number): void {
    if (count === this.count) return;
    this.count = count;
    const bytes = count * BYTES[this.param.type];
    if (bytes > this.buffer.bytes) {
      this.buffer.free();
      this.buffer = this.allocate(2 * bytes);
    }
    this.view = this.newView();
  }

  free(): void {
    this.buffer.free();
  }

  /** Before the workers begin. */
  clear(): void {
    if (this.byWorkers) this.array().fill(this.param.identity);
  }

  /** Folds what they have left, and gives the results by the names of the parameters. */
  static finish(all: readonly WasmPartials[]): Record<string, FoldedValue> {
    const results: Record<string, FoldedValue> = {};
    for (const params of foldGroups(all.map(({ param }) => param))) {
      const parts = params.map((param) => all.find((partials) => partials.param === param)!);
      const values = params[0].joint
        ? foldPartialsJointly(
            parts.map((part) => part.array()),
            parts[0].count,
            params,
          )
        : [parts[0].folded()];
      parts.forEach((part, n) => (results[part.param.name] = part.tell(values[n])));
    }
    return results;
  }

  private folded(): FoldedValue {
    return this.byWorkers ? this.inAnyOrder() : foldPartials(this.array(), this.count, this.param, this.fold!);
  }

  /** Puts a result where it is wanted, and gives it. */
  private tell(result: FoldedValue): FoldedValue {
    if (this.taker) {
      if (!this.shared && this.taker.buffer !== hostOf(this.output!)) this.taker = hostArray(this.output!) as FoldedArray;
      this.taker[belowOf(this.output!)] = result;
    }
    return result;
  }

  private inAnyOrder(): FoldedValue {
    const array = this.array();
    let result = array[0];
    for (let n = 1; n < this.count; n++) result = this.fold!(result, array[n]);
    return result;
  }

  /** A memory that is not shared changes its buffer when it grows. */
  private array(): FoldedArray {
    if (!this.shared && this.view.buffer !== this.buffer.host) this.view = this.newView();
    return this.view;
  }

  private newView(): FoldedArray {
    return typedArray(this.param.type, this.buffer.host, this.buffer.address, this.count) as FoldedArray;
  }
}
