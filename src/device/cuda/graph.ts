import { DeviceError, LaunchError } from "../../base/errors.js";
import type { Graph } from "../device.js";
import { loadCopies } from "../gpu/copies.js";
import type { GpuWork } from "../gpu/work.js";
import type { Handle } from "./calls.js";
import type { CudaCapture } from "./capture.js";
import type { CudaGpu } from "./gpu.js";
import type { Binding } from "../launch/binding.js";
import type { Buffer } from "../memory/view.js";

/** The thread may call what would disturb other captures: nothing else is captured meanwhile. */
const RELAXED = 2;

/** Kernels keep the priority of the stream that they were captured in. */
const NODE_PRIORITY = 8;

/** A stream of one GPU that takes part in a capture. */
interface Origin {
  readonly gpu: CudaGpu;
  readonly stream: Handle;
}

/** An executable CUDA graph, made of what was submitted to streams of one or several GPUs. */
export class CudaGraph implements Graph {
  readonly remarks: readonly string[];
  private executable: Handle;
  readonly recorded: readonly Binding[];
  private readonly launches: readonly GpuWork[];
  private readonly buffers: readonly Buffer[];

  private constructor(
    readonly gpu: CudaGpu,
    graph: Handle,
    captured: CudaCapture,
  ) {
    const { driver } = gpu;
    this.launches = [...captured.launches];
    this.recorded = this.launches.flatMap(({ recorded }) => recorded);
    this.buffers = [...captured.buffers];
    this.executable = driver.handle("cuGraphInstantiateWithFlags", graph, captured.urgent ? NODE_PRIORITY : 0);
    const count = new BigUint64Array(1);
    driver.call("cuGraphGetNodes", graph, null, count);
    this.remarks = [`a ${gpu.language.name} graph of ${count[0]} nodes, for ${this.launches.length} launches and what is between them`];
  }

  /**
   * Captures what `record` enqueues on the origin's stream and on streams of `gpus` that wait for it; `record` forks and joins them.
   * Throws LaunchError inside another capture, DeviceError for what the driver cannot capture.
   */
  static capture({ gpu, stream }: Origin, gpus: ReadonlySet<CudaGpu>, captured: CudaCapture, record: () => void): CudaGraph {
    for (const one of gpus) if (one.capture) throw new LaunchError("a capture inside a capture: capture the inner work on its own, before");
    // Not to be done on the way.
    for (const one of gpus) {
      loadCopies(one);
      for (const other of gpus) if (other !== one) one.reaches(other);
    }
    const driver = gpu.enter();
    driver.call("cuStreamBeginCapture_v2", stream, RELAXED);
    for (const one of gpus) one.capture = captured;
    let graph: Handle = 0;
    try {
      record();
      graph = end({ gpu, stream });
      return new CudaGraph(gpu, graph, captured);
    } catch (error) {
      if (graph === 0) endFailed({ gpu, stream });
      throw error;
    } finally {
      for (const one of gpus) one.capture = undefined;
      if (graph !== 0) driver.call("cuGraphDestroy", graph);
    }
  }

  enqueue(stream: Handle): void {
    if (this.executable === 0) throw new LaunchError("a graph was freed and cannot run again; capture it anew");
    for (const launch of this.launches) launch.requireReady();
    if (this.buffers.some((buffer) => buffer.live === false))
      throw new LaunchError(`a graph on ${this.gpu.name} copies a view whose memory was freed; free arrays only when no graph uses them`);
    this.gpu.enter().call("cuGraphLaunch", this.executable, stream);
  }

  free(): void {
    if (this.executable === 0) return;
    if (!this.gpu.isClosed) this.gpu.enter().call("cuGraphExecDestroy", this.executable);
    this.executable = 0;
  }
}

function end({ gpu, stream }: Origin): Handle {
  const graph = new BigUint64Array(1);
  gpu.enter().call("cuStreamEndCapture", stream, graph);
  return Number(graph[0]);
}

/** Takes a stream out of a capture that cannot be completed. */
function endFailed(origin: Origin): void {
  let graph: Handle;
  try {
    graph = end(origin);
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    // The driver says once more that the capture failed.
    return;
  }
  if (graph !== 0) origin.gpu.driver.call("cuGraphDestroy", graph);
}
