import type { Binding } from "../launch/binding.js";
import type { Capabilities, Device, Fold, FoldPart, Launch, TheoreticalPeaks } from "../device.js";
import { SORT_BY_BLOCKS } from "../../emit/c/gpu/sort.js";
import { cublasProduct } from "./cublas.js";
import { gpuDigitSort } from "../gpu/digit-sort.js";
import { gpuPrefixScan } from "../gpu/prefix-scan.js";
import { GpuFold, type Mailboxes } from "../gpu/fold.js";
import { GpuDevice } from "../gpu/gpu-device.js";
import { GpuLaunch } from "../gpu/launch.js";
import { keptData } from "../memory/memory-array.js";
import type { Buffer, View } from "../memory/view.js";
import type { CudaGpu, GpuFacts } from "./gpu.js";
import { PinnedBuffer } from "./pinned.js";
import { CudaQueue, enqueueWrite } from "./queue.js";

export const cudaCapabilities = ({ multiprocessors, memory }: GpuFacts): Capabilities => ({
  f64: true,
  parallelism: multiprocessors,
  simdBytes: 0,
  memory,
  maxAllocation: memory,
});

/** Values that are kept, at most, until the GPU is there. */
const KEPT = 1 << 18;

/** The null stream: in order with every stream of the device. */
const NULL_STREAM = 0;

/** One GPU of NVIDIA or, through HIP, of AMD. */
export class CudaDevice extends GpuDevice<CudaGpu> {
  readonly backend: string;
  readonly label: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly capabilities: Capabilities;
  readonly theoretical: TheoreticalPeaks;

  constructor(name: string, gpu: CudaGpu) {
    super(name, gpu);
    this.backend = gpu.driver.api.backend;
    this.label = gpu.facts.label;
    this.versions = { driver: String(gpu.driver.int("cuDriverGetVersion")) };
    this.capabilities = cudaCapabilities(gpu.facts);
    this.theoretical = { bandwidth: gpu.facts.bandwidth };
  }

  createQueue(): CudaQueue {
    return new CudaQueue(this, this.gpu);
  }

  /** A queue whose kernels go before the kernels of other queues. */
  createUrgentQueue(): CudaQueue {
    return new CudaQueue(this, this.gpu, true);
  }

  hostMemory(bytes: number): Buffer {
    return new PinnedBuffer(this.gpu, bytes);
  }

  protected fill(view: View, data: ArrayLike<number>): void {
    const write = (values: ArrayLike<number>): void => enqueueWrite(this.gpu, view, values, NULL_STREAM);
    if (this.gpu.isStarted || data.length > KEPT) return write(data);
    // The caller may change its data as soon as this returns.
    const values = keptData(view.type, data);
    this.gpu.whenUsed(() => {
      if (view.buffer.live !== false) write(values);
    });
  }

  protected launch(binding: Binding): GpuLaunch {
    return new GpuLaunch(this.gpu, binding);
  }

  canPeerStore(to: Device): boolean {
    // Folds in a fixed order go by chunks of lines, and not over a box.
    if (this.deterministic) return false;
    return to instanceof CudaDevice && (to.gpu === this.gpu || this.gpu.reaches(to.gpu));
  }

  fold(parts: readonly FoldPart[]): Fold | undefined {
    const own = parts.map(({ device, launches, results }) => {
      const mine = launches.filter((launch) => launch instanceof GpuLaunch);
      return device instanceof CudaDevice && mine.length === launches.length ? { gpu: device.gpu, launches: mine, results } : undefined;
    });
    const known = own.filter((part) => part !== undefined);
    const reached = known.every(({ gpu }) => known.every((other) => other.gpu === gpu || gpu.reaches(other.gpu)));
    const together = known.length === parts.length && reached ? GpuFold.together(known) : undefined;
    return together && { launches: together.folds, allReduces: together.allReduces };
  }

  get digitSort(): Device["digitSort"] {
    if (this.gpu.language.sortShape !== SORT_BY_BLOCKS) return undefined;
    return (sort, kernel) => {
      this.requireOpen();
      return gpuDigitSort(this.gpu, sort, kernel);
    };
  }

  get prefixScan(): Device["prefixScan"] {
    const { scan } = this.gpu.language;
    return (
      scan &&
      ((what, kernel) => {
        this.requireOpen();
        return gpuPrefixScan(this.gpu, scan, what, kernel);
      })
    );
  }

  get cublas(): Device["cublas"] {
    if (this.gpu.driver.api.backend !== "cuda") return undefined;
    return (product, kernel) => {
      this.requireOpen();
      return cublasProduct(this.gpu, product, kernel);
    };
  }

  /** This process's fold of several, each on its GPU: see `GpuFold.across`. */
  foldAcross({ launches, results }: FoldPart, mailboxes: Mailboxes): Launch | undefined {
    const mine = launches.filter((launch) => launch instanceof GpuLaunch);
    return GpuFold.across({ gpu: this.gpu, launches: mine, results }, mailboxes);
  }
}
