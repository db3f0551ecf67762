import { ELEMENTS, isDouble } from "../../ir/scalars.js";
import { layOut, type Entry, type LaunchField } from "../../emit/wgsl/program.js";
import { pair } from "../../emit/wgsl/body.js";
import type { AnySlot } from "../../schedule/slots.js";
import { valueOf, type Fill } from "../gpu/steps.js";
import type { Step } from "./capture.js";
import type { Commands } from "./commands.js";
import type { Gpu, Pipeline } from "./gpu.js";

export type { Step };

/** A range of a buffer that a shader sees; offsets are multiples of 256. */
export interface Binding {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
}

/** Workgroups along x, y and z. */
export type Grid = readonly [number, number, number];

/** A shader to be dispatched: its block of numbers has a place of its own in the launch's uniform buffer. */
export interface Dispatch {
  readonly entry: Entry<unknown>;
  readonly grid: Grid;
  /** The bytes of its block; see `blockOf`. */
  readonly block: ArrayBuffer;
  /** By the shader's group number. */
  readonly bindings: readonly Binding[];
}

const ALIGNMENT = 256;

/** Makes steps of dispatches, with one uniform buffer for all of them; `kernel` is for messages. */
export function planDispatches(gpu: Gpu, kernel: { name: string; file: string }, dispatches: readonly Dispatch[]) {
  const sizes = dispatches.map(({ entry }) => Math.ceil(layOut(entry.fields).size / ALIGNMENT) * ALIGNMENT);
  const data = new ArrayBuffer(sizes.reduce((a, b) => a + b, 0) || ALIGNMENT);
  let end = 0;
  const offsets = dispatches.map(({ block }, n) => {
    const at = end;
    new Uint8Array(data, at).set(new Uint8Array(block));
    end += sizes[n];
    return at;
  });
  const uniforms = gpu.uniforms(data);
  const steps = dispatches.map(({ entry, grid, bindings }, n) => {
    const pipeline = gpu.pipeline(entry, kernel);
    const group = gpu.device.createBindGroup({
      layout: pipeline.layout,
      entries: [
        ...(entry.fields.length > 0
          ? [{ binding: 0, resource: { buffer: uniforms, offset: offsets[n], size: layOut(entry.fields).size } }]
          : []),
        ...entry.buffers.map(({ group }, b) => ({ binding: b + 1, resource: bindings[group] })),
      ],
    });
    return new DispatchStep(pipeline, group, grid);
  });
  return { uniforms, steps };
}

export class DispatchStep implements Step {
  constructor(
    readonly pipeline: Pipeline,
    private readonly bindings: GPUBindGroup,
    private readonly grid: readonly [number, number, number],
  ) {}

  encode(commands: Commands): void {
    commands.dispatch(this.pipeline.handle, this.bindings, this.grid);
  }
}

export class CopyStep implements Step {
  constructor(
    private readonly source: Binding,
    private readonly target: Binding,
  ) {}

  encode(commands: Commands): void {
    commands.copy(this.source.buffer, this.source.offset, this.target.buffer, this.target.offset, this.source.size);
  }
}

export class ClearStep implements Step {
  constructor(private readonly target: Binding) {}

  encode(commands: Commands): void {
    commands.clear(this.target.buffer, this.target.offset, this.target.size);
  }
}

/** The block of numbers of a shader. */
export function blockOf<Slot extends AnySlot>(fields: readonly LaunchField<Slot>[], fill: Fill<Slot>): ArrayBuffer {
  const { offsets, size } = layOut(fields);
  const data = new DataView(new ArrayBuffer(size));
  fields.forEach(({ slot, type }, n) => {
    const value = valueOf(fill, slot);
    const at = offsets[n];
    if (isDouble(type)) pair(value).forEach((part, half) => data.setFloat32(at + 4 * half, part, true));
    else data[type === "bool" ? "setUint32" : ELEMENTS[type].set](at, value, true);
  });
  return data.buffer;
}

/** Workgroups that cover `count` in steps of `size`. */
export const groupsFor = (count: number, size: number): number => Math.ceil(count / size);
