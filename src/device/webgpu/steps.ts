import { isDouble, putValue } from "../../ir/scalars.js";
import { layOutBlock, type ShaderEntry, type LaunchField } from "../../emit/wgsl/shader-program.js";
import { pair } from "../../emit/wgsl/body.js";
import type { AnySlot } from "../../schedule/slots.js";
import { valueOf, type Fill } from "../gpu/steps.js";
import type { EncodedStep } from "./capture.js";
import type { Commands } from "./commands.js";
import type { Gpu, Pipeline } from "./gpu.js";

export type { EncodedStep };

/** A range of a buffer that a shader sees; offsets are multiples of 256. */
export interface BufferBinding {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
}

/** Workgroups along x, y and z. */
export type WorkgroupGrid = readonly [number, number, number];

/** A shader to be dispatched: its block of numbers has a place of its own in the launch's uniform buffer. */
export interface Dispatch {
  readonly entry: ShaderEntry<unknown>;
  readonly grid: WorkgroupGrid;
  /** The bytes of its block; see `blockOf`. */
  readonly block: ArrayBuffer;
  /** By the shader's group number. */
  readonly bindings: readonly BufferBinding[];
}

const ALIGNMENT = 256;

/** Steps that dispatch shaders, and the numbers of all of them in one buffer. */
export class DispatchSteps {
  readonly steps: readonly DispatchStep[];
  private readonly offsets: readonly number[];
  private readonly data: Uint8Array<ArrayBuffer>;
  private readonly uniforms: GPUBuffer;

  /** @param kernel is for messages */
  constructor(
    private readonly gpu: Gpu,
    kernel: { name: string; file: string },
    private readonly dispatches: readonly Dispatch[],
  ) {
    let end = 0;
    this.offsets = dispatches.map(({ entry }) => {
      const at = end;
      end += Math.ceil(layOutBlock(entry.fields).size / ALIGNMENT) * ALIGNMENT;
      return at;
    });
    this.data = new Uint8Array(end || ALIGNMENT);
    dispatches.forEach(({ block }, n) => this.put(n, block));
    this.uniforms = gpu.uniforms(this.data.buffer);
    this.steps = dispatches.map(({ entry, grid }, n) => {
      const pipeline = gpu.pipeline(entry, kernel);
      return new DispatchStep(pipeline, this.group(n, pipeline), grid);
    });
  }

  /** Takes other numbers and grids, for what is dispatched from now on. */
  refill(runs: readonly Pick<Dispatch, "block" | "grid">[]): void {
    const changed = runs.filter(({ block }, n) => this.put(n, block));
    if (changed.length > 0) this.gpu.commands.write(this.uniforms, 0, this.data);
    for (const [n, { grid }] of runs.entries()) this.steps[n].grid = grid;
  }

  free(): void {
    this.uniforms.destroy();
  }

  private put(n: number, block: ArrayBuffer): boolean {
    const [from, to] = [new Uint8Array(block), this.data.subarray(this.offsets[n])];
    if (from.every((byte, at) => byte === to[at])) return false;
    to.set(from);
    return true;
  }

  private group(n: number, { layout }: Pipeline): GPUBindGroup {
    const { entry, bindings } = this.dispatches[n];
    return this.gpu.device.createBindGroup({
      layout,
      entries: [
        ...(entry.fields.length > 0
          ? [{ binding: 0, resource: { buffer: this.uniforms, offset: this.offsets[n], size: layOutBlock(entry.fields).size } }]
          : []),
        ...entry.buffers.map(({ group }, b) => ({ binding: b + 1, resource: bindings[group] })),
      ],
    });
  }
}

export class DispatchStep implements EncodedStep {
  constructor(
    readonly pipeline: Pipeline,
    private readonly bindings: GPUBindGroup,
    public grid: WorkgroupGrid,
  ) {}

  encode(commands: Commands): void {
    commands.dispatch(this.pipeline.handle, this.bindings, this.grid);
  }
}

export class CopyStep implements EncodedStep {
  constructor(
    private readonly source: BufferBinding,
    private readonly target: BufferBinding,
  ) {}

  encode(commands: Commands): void {
    commands.copy(this.source.buffer, this.source.offset, this.target.buffer, this.target.offset, this.source.size);
  }
}

export class ClearStep implements EncodedStep {
  constructor(private readonly target: BufferBinding) {}

  encode(commands: Commands): void {
    commands.clear(this.target.buffer, this.target.offset, this.target.size);
  }
}

/** The block of numbers of a shader. */
export function blockOf<Slot extends AnySlot>(fields: readonly LaunchField<Slot>[], fill: Fill<Slot>): ArrayBuffer {
  const { offsets, size } = layOutBlock(fields);
  const data = new DataView(new ArrayBuffer(size));
  fields.forEach(({ slot, type }, n) => {
    const value = valueOf(fill, slot);
    const at = offsets[n];
    if (isDouble(type)) pair(Number(value)).forEach((part, half) => data.setFloat32(at + 4 * half, part, true));
    else if (type === "bool") data.setUint32(at, Number(value), true);
    else putValue(data, type, at, value);
  });
  return data.buffer;
}

/** Workgroups that cover `count` in steps of `size`. */
export const groupsFor = (count: number, size: number): number => Math.ceil(count / size);
