import { CpuDevice } from "../../device/cpu/cpu-device.js";
import { addressOf, hostOf, writeView } from "../../device/cpu/host-view.js";
import type { CpuProgram } from "../../device/cpu/launch.js";
import { cpuCapabilities } from "../../device/cpu/machine.js";
import type { Binding } from "../../device/launch/binding.js";
import type { Loader } from "../../device/native/library.js";
import { LaunchTuning } from "../../device/tuning/tuning.js";
import { fileRemark, PortArguments } from "./arguments.js";
import { PortCompiler, type PortCode } from "./code.js";
import { portDevice, type HostPort } from "./names.js";
import type { Toolchain } from "./toolchain.js";

/** Tools of a port's device. */
interface PortTools {
  readonly toolchain: Toolchain;
  readonly loader: Loader;
  readonly threads: number;
  /** Hardware in words, and where the loops of the files run. */
  readonly label: string;
  /** The loops run on this machine's processor. */
  readonly onHost: boolean;
}

/** Launches are what `isoform emit` writes for the same kernels: compiled, and called on the memory of the CPU backends. */
export class PortDevice extends CpuDevice {
  readonly onHost: boolean;
  private readonly code: PortCompiler;
  /** Emitted files do not check indices. */
  checked?: boolean = false;

  constructor(
    port: HostPort,
    private readonly tools: PortTools,
  ) {
    const name = portDevice(port);
    super(name, name, tools.label, cpuCapabilities(tools.threads, 0), { compiler: tools.toolchain.version });
    this.onHost = tools.onHost;
    this.code = new PortCompiler(tools.toolchain, tools.loader);
  }

  /** Emitted files give each team of the league a row. */
  override residentTeams(league: number): number {
    return league;
  }

  /** Compiler of its files, and how it is called. */
  get toolchain(): Toolchain {
    return this.tools.toolchain;
  }

  protected build(binding: Binding): CpuProgram {
    return new PortProgram(binding, this.name, this.code.of(binding), this.tools.loader);
  }
}

/** A launch function with its arguments. */
class PortProgram implements CpuProgram {
  readonly tuning: LaunchTuning;
  readonly remarks: readonly string[];
  private readonly args: PortArguments;
  /** Keeps the memory alive whose addresses are in `args`. */
  private readonly hosts: readonly ArrayBufferLike[];

  constructor(
    private readonly binding: Binding,
    private readonly device: string,
    private readonly code: PortCode,
    loader: Loader,
  ) {
    this.tuning = new LaunchTuning(binding, () => ({}));
    this.remarks = [fileRemark(device)];
    this.hosts = Object.values(binding.views).map(hostOf);
    this.args = new PortArguments(code, loader, binding, (view) => loader.address(hostOf(view)) + BigInt(addressOf(view)));
  }

  run(): Record<string, number> {
    this.code.function.call(this.args.address);
    const { binding, args } = this;
    args.requireSuccess(this.device, binding, "found no memory for partial results", "use a smaller range");
    const results = args.results(binding);
    for (const [name, value] of Object.entries(results)) {
      const output = binding.outputs[name];
      if (output) writeView(output, [value]);
    }
    return results;
  }

  source(): string {
    return this.code.text;
  }

  free(): void {}
}
