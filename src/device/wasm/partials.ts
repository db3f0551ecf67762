import type { ReduceParam } from "../../ir/types.js";
import { foldOfParam, foldPartials, type Fold } from "../cpu/partials.js";
import type { Allocate } from "../cpu/scatter-plan.js";
import { cpuStorage, type CpuBuffer } from "../cpu/storage.js";
import { BYTES, typedArray, type TypedArray } from "../view.js";

/** The partial results of one reduce parameter: memory of its own that workers write and the calling thread folds. */
export class Partials {
  private readonly buffer: CpuBuffer;
  private readonly fold: Fold;
  private readonly shared = cpuStorage().shared;
  private view: TypedArray;

  constructor(
    readonly param: ReduceParam,
    private readonly count: number,
    allocate: Allocate,
  ) {
    this.buffer = allocate(count * BYTES[param.type]);
    this.fold = foldOfParam(param);
    this.view = this.newView();
  }

  get address(): number {
    return this.buffer.address;
  }

  free(): void {
    this.buffer.free();
  }

  /** Sets all to the identity. */
  clear(): void {
    this.array().fill(this.param.identity);
  }

  /** Their fold by the strict rule. */
  inOrder(): number {
    return foldPartials(this.array(), this.count, this.param, this.fold);
  }

  /** Their fold one after the other. */
  inAnyOrder(): number {
    const array = this.array();
    let result = array[0];
    for (let n = 1; n < this.count; n++) result = this.fold(result, array[n]);
    return result;
  }

  /** A memory that is not shared changes its buffer when it grows. */
  private array(): TypedArray {
    if (!this.shared && this.view.buffer !== this.buffer.host) this.view = this.newView();
    return this.view;
  }

  private newView(): TypedArray {
    return typedArray(this.param.type, this.buffer.host, this.buffer.address, this.count);
  }
}
