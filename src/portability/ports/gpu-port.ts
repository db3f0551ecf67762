import { CudaDevice } from "../../device/cuda/cuda-device.js";
import type { CudaGpu } from "../../device/cuda/gpu.js";
import { GpuLaunch } from "../../device/gpu/launch.js";
import { addressOf } from "../../device/gpu/values.js";
import type { Device, Fold, Launch } from "../../device/device.js";
import type { Binding } from "../../device/launch/binding.js";
import { withInitialValues } from "../../device/launch/initial-values.js";
import { typedArray } from "../../device/memory/view.js";
import type { Loader } from "../../device/native/library.js";
import { cover } from "../../device/tools/tools.js";
import { DeviceError } from "../../base/errors.js";
import { fileRemark, PortArguments } from "./arguments.js";
import { PortCompiler, type PortCode } from "./code.js";
import { portDevice, type Port } from "./names.js";
import { toolchainOf, type Toolchain } from "./toolchain.js";

/** Ports whose files work on memory of a GPU. */
export type GpuPort = Extract<Port, "cuda" | "hip">;

/** The device of such a port: the first GPU of the backend of its name. Throws DeviceError for what is missing. */
export async function openGpuPort(port: GpuPort, loader: Loader): Promise<Device> {
  // The compiler first: its absence is told without starting a GPU.
  toolchainOf(port);
  // Without clang++ on the path, hipcc would take nvcc for its compiler.
  if (port === "hip") process.env.HIP_PLATFORM ??= "amd";
  const { open } = await import("../../device/open.js");
  let below: CudaDevice;
  try {
    below = (await open(`${port}:0`)) as CudaDevice;
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    throw new DeviceError(portDevice(port), error.problem, error.remedy);
  }
  const device = new GpuPortDevice(port, below.gpu, toolchainOf(port, below.gpu.facts.arch), loader);
  cover(device);
  return device;
}

/** Launches are what `isoform emit` writes for the same kernels, called on the memory and streams of a GPU's backend. */
export class GpuPortDevice extends CudaDevice {
  override readonly backend: string;
  /** Emitted files do not check indices. */
  checked?: boolean = false;
  private readonly code: PortCompiler;

  constructor(
    port: GpuPort,
    gpu: CudaGpu,
    readonly toolchain: Toolchain,
    private readonly loader: Loader,
  ) {
    super(portDevice(port), gpu);
    this.backend = portDevice(port);
    this.code = new PortCompiler(toolchain, loader);
  }

  /** Emitted files give each team of the league a row. */
  override residentTeams(league: number): number {
    return league;
  }

  protected override launch(binding: Binding): GpuLaunch {
    return new GpuPortLaunch(this.gpu, binding, this.name, this.code.of(binding), this.loader);
  }

  /** Arguments of a call are in a struct. */
  protected override readonly keepsLaunches = false;

  override canPeerStore(): boolean {
    return false;
  }

  override fold(): Fold | undefined {
    return undefined;
  }

  override foldAcross(): Launch | undefined {
    return undefined;
  }
}

/**
 * Call of an emitted launch function in place of the backend's own steps, which are prepared and not run: they bring the place of results and all that
 * queues ask of launches.
 */
export class GpuPortLaunch extends GpuLaunch {
  private readonly args: PortArguments;
  private found: Record<string, number> = {};

  constructor(
    gpu: CudaGpu,
    binding: Binding,
    private readonly device: string,
    private readonly port: PortCode,
    loader: Loader,
  ) {
    super(gpu, binding);
    this.args = new PortArguments(port, loader, binding, (view) => BigInt(addressOf(view)));
  }

  override get remarks(): readonly string[] {
    return [fileRemark(this.device)];
  }

  /** The shared library of the file, which tells what its kernels take of the GPU: see `resourceUsage`. */
  get library(): string {
    return this.port.library;
  }

  /** The backend's own kernel does not run. */
  override get resources(): undefined {
    return undefined;
  }

  /** Returns when results are there, or at once where the kernel has none. */
  override enqueue(stream: number): void {
    const { gpu, args, binding } = this;
    gpu.starts(this.kernel.name);
    args.set({ kind: "stream" }, BigInt(stream));
    this.port.function.call(args.address);
    args.requireSuccess(this.device, binding, "ended with status STATUS of the GPU's runtime", "look the number up in its documentation");
    this.found = args.results(binding);
    for (const [name, value] of Object.entries(this.found)) {
      const output = binding.outputs[name];
      if (output) gpu.upload(addressOf(output), wordsOf(output.type, value));
    }
    this.ran = true;
  }

  override decodeResults(): Record<string, number> {
    return withInitialValues({ ir: this.binding.ir, initial: this.initial }, this.found);
  }

  override source(): string {
    return this.port.text;
  }
}

/** A number's words in memory. */
function wordsOf(type: Parameters<typeof typedArray>[0], value: number): Uint32Array {
  const array = typedArray(type, 1);
  array[0] = value;
  return new Uint32Array(array.buffer);
}
