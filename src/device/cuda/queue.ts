import type { ElementType } from "../../ir/types.js";
import { DeviceError, LaunchError } from "../../kernel/errors.js";
import { requireLiveViews } from "../bind.js";
import type { Device, DeviceEvent, Launch, Queue } from "../device.js";
import { BYTES, type TypedArrayOf, type View } from "../view.js";
import { densePlace, placeOf, stridedCopy } from "./copies.js";
import type { Handle } from "./driver.js";
import type { Gpu } from "./gpu.js";
import { CudaLaunch } from "./launch.js";
import { untilReady } from "./staging.js";

/** Events that nothing refers to any more go back to the driver. */
const forgotten = new FinalizationRegistry<{ gpu: Gpu; event: Handle }>(({ gpu, event }) => {
  if (!gpu.isClosed) gpu.enter().call("cuEventDestroy_v2", event);
});

/** A stream of one GPU. */
export class CudaQueue implements Queue {
  private readonly stream: Handle;

  constructor(
    readonly device: Device,
    private readonly gpu: Gpu,
  ) {
    this.stream = gpu.createStream();
  }

  submit(launch: Launch): void {
    if (!(launch instanceof CudaLaunch) || launch.gpu !== this.gpu)
      throw new LaunchError(
        `a launch of kernel "${launch.kernel.name}" that another device prepared was submitted to "${this.device.name}"`,
      );
    this.gpu.enter();
    requireLiveViews(this.device, launch.binding);
    launch.enqueue(this.stream);
  }

  write(target: View, data: ArrayLike<number>): void {
    writeView(this.gpu, target, data, this.stream);
  }

  copy(source: View, target: View): void {
    if (source.type !== target.type || source.shape.join() !== target.shape.join())
      throw new LaunchError(
        `copy from ${source.type} [${source.shape}] to ${target.type} [${target.shape}]: shapes and types must be equal`,
      );
    const driver = this.enter(source, target);
    const bytes = source.size * BYTES[source.type];
    if (bytes === 0) return;
    if (source.contiguous && target.contiguous)
      driver.call("cuMemcpyDtoDAsync_v2", placeOf(target).address, placeOf(source).address, bytes, this.stream);
    else stridedCopy(this.gpu, BYTES[source.type] as 1 | 4 | 8, source.shape, placeOf(source), placeOf(target)).enqueue(this.stream);
  }

  clear(target: View): void {
    const driver = this.enter(target);
    if (target.size === 0) return;
    if (target.contiguous) driver.call("cuMemsetD8Async", placeOf(target).address, 0, target.size * BYTES[target.type], this.stream);
    else this.write(target, new Uint8Array(target.size));
  }

  async read<T extends ElementType>(source: View<T>): Promise<TypedArrayOf<T>> {
    this.enter(source);
    const settle = () => void this.gpu.enter();
    if (source.contiguous || source.size === 0)
      return this.gpu.staging.read(placeOf(source).address, source.type, source.size, this.stream, settle);
    const dense = this.gpu.allocate(source.size * BYTES[source.type]);
    try {
      stridedCopy(
        this.gpu,
        BYTES[source.type] as 1 | 4 | 8,
        source.shape,
        placeOf(source),
        densePlace(dense.address, source.shape),
      ).enqueue(this.stream);
      return await this.gpu.staging.read(dense.address, source.type, source.size, this.stream, settle);
    } finally {
      dense.free();
    }
  }

  async results(launch: Launch): Promise<Record<string, number>> {
    if (!(launch instanceof CudaLaunch) || launch.gpu !== this.gpu || !launch.ran)
      throw new LaunchError(
        `results of a launch of kernel "${launch.kernel.name}" that has not run on "${this.device.name}", or was freed`,
      );
    this.gpu.enter();
    const { address, count } = launch.resultPlace;
    const bytes = await this.gpu.staging.read(address, "f64", count, this.stream, () => void this.gpu.enter());
    return launch.decodeResults(bytes.buffer);
  }

  record(): DeviceEvent {
    const driver = this.gpu.enter();
    const event = new CudaEvent(this.gpu, driver.handle("cuEventCreate", 0));
    driver.call("cuEventRecord", event.handle, this.stream);
    return event;
  }

  wait(event: DeviceEvent): void {
    if (!(event instanceof CudaEvent)) throw new LaunchError(`an event of another kind of device was given to "${this.device.name}"`);
    this.gpu.enter().call("cuStreamWaitEvent", this.stream, event.handle, 0);
  }

  finish(): Promise<void> {
    return untilReady(this.gpu.enter(), "cuStreamQuery", this.stream, () => void this.gpu.enter());
  }

  private enter(...views: View[]) {
    for (const view of views)
      if (view.buffer.memory !== this.gpu.memory)
        throw new LaunchError(
          `a view in the memory of ${view.buffer.memory.name} was given to "${this.device.name}"; read it, and write it to a view of ${this.device.name}`,
        );
    return this.gpu.enter();
  }
}

/** Enqueues the copy of host data in `right` order to a view, on `stream`. */
export function writeView(gpu: Gpu, target: View, data: ArrayLike<number>, stream: Handle): void {
  if (data.length !== target.size)
    throw new LaunchError(`${data.length} values for a view of shape [${target.shape}], which has ${target.size}`);
  if (target.buffer.memory !== gpu.memory)
    throw new LaunchError(`a view in the memory of ${target.buffer.memory.name} was given to "${gpu.name}"`);
  gpu.enter();
  if (target.size === 0) return;
  if (target.contiguous) return gpu.staging.write(placeOf(target).address, target.type, data, stream);
  const dense = gpu.allocate(target.size * BYTES[target.type]);
  gpu.staging.write(dense.address, target.type, data, stream);
  stridedCopy(gpu, BYTES[target.type] as 1 | 4 | 8, target.shape, densePlace(dense.address, target.shape), placeOf(target)).enqueue(stream);
  dense.free();
}

/** A mark in a stream. */
export class CudaEvent implements DeviceEvent {
  constructor(
    private readonly gpu: Gpu,
    readonly handle: Handle,
  ) {
    forgotten.register(this, { gpu, event: handle });
  }

  async since(earlier: DeviceEvent): Promise<number> {
    if (!(earlier instanceof CudaEvent) || earlier.gpu !== this.gpu)
      throw new DeviceError(this.gpu.name, "the earlier event is another device's", "compare events of one device");
    await earlier.done();
    await this.done();
    const milliseconds = new Float32Array(1);
    this.gpu.enter().call("cuEventElapsedTime", milliseconds, earlier.handle, this.handle);
    return milliseconds[0] / 1000;
  }

  done(): Promise<void> {
    return untilReady(this.gpu.enter(), "cuEventQuery", this.handle, () => void this.gpu.enter());
  }
}
