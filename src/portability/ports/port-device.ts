import { unreachable } from "../../base/unreachable.js";
import { derive } from "../../cache/derive.js";
import { CpuDevice } from "../../device/cpu/cpu-device.js";
import { addressOf, hostOf, spanOf, writeView } from "../../device/cpu/host-view.js";
import type { CpuProgram } from "../../device/cpu/launch.js";
import { cpuCapabilities } from "../../device/cpu/machine.js";
import type { Binding } from "../../device/launch/binding.js";
import type { NativeEntry, Loader } from "../../device/native/library.js";
import { LaunchTuning } from "../../device/tuning/tuning.js";
import { getField, setField } from "../../emit/c/arguments.js";
import { stemOf, TARGETS, type EmitRequest } from "../../emit/standalone/index.js";
import { unitStridesOf } from "../../emit/standalone/request.js";
import { slotText } from "../../schedule/slots.js";
import type { KernelIR } from "../../ir/types.js";
import { DeviceError, EmitError } from "../../base/errors.js";
import { THREW, portCall, type PortCall, type PortSlot } from "./call.js";
import { portDevice, type HostPort } from "./names.js";
import { compiledEntry, type Toolchain } from "./toolchain.js";

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

interface PortCode extends PortCall {
  readonly text: string;
  readonly function: NativeEntry;
}

/** Launches are what `isoform emit` writes for the same kernels: compiled, and called on the memory of the CPU backends. */
export class PortDevice extends CpuDevice {
  readonly onHost: boolean;
  /** Emitted files do not check indices. */
  checked?: boolean = false;

  constructor(
    private readonly port: HostPort,
    private readonly tools: PortTools,
  ) {
    const name = portDevice(port);
    super(name, name, tools.label, cpuCapabilities(tools.threads, 0), { compiler: tools.toolchain.version });
    this.onHost = tools.onHost;
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
    const refuse = (problem: string, remedy: string) => new EmitError(binding.kernel.name, this.port, problem, remedy);
    if (binding.partials)
      throw refuse(
        "its launch returns partial results, and emitted files fold them",
        "run it in fast mode, or on one device that is not divided",
      );
    if (!binding.disjointMemory) throw refuse("its arrays share memory", "give it arrays that do not overlap");
    const { ir, access, precision, policy, views } = binding;
    const unitStrides = unitStridesOf(views);
    const request: EmitRequest = { ir, access, precision, stem: stemOf(ir.name), unitStrides, sizes: { policy, views } };
    const code = derive(ir, this.compiled, request, JSON.stringify([precision, unitStrides]));
    return new PortProgram(binding, this.name, code, this.tools.loader);
  }

  /** Emits, compiles and loads a kernel. */
  private readonly compiled = ({ name }: KernelIR, request: EmitRequest): PortCode => {
    const [{ text }] = TARGETS[this.port](request);
    const call = portCall(this.port, request);
    const { loader, toolchain } = this.tools;
    const source = { name: stemOf(name), text: `${text}\n${call.source}`, entry: call.entry };
    return { ...call, text, function: compiledEntry(loader, toolchain, source, request.precision) };
  };
}

/** A launch function with its arguments. */
class PortProgram implements CpuProgram {
  readonly tuning: LaunchTuning;
  readonly remarks: readonly string[];
  private readonly args: DataView;
  private readonly argsAddress: bigint;
  /** Keeps the memory alive whose addresses are in `args`. */
  private readonly hosts: readonly ArrayBufferLike[];

  constructor(
    private readonly binding: Binding,
    private readonly device: string,
    private readonly code: PortCode,
    loader: Loader,
  ) {
    this.tuning = new LaunchTuning(binding, () => ({}));
    this.remarks = [`launch function: the file that isoform emit writes for ${device.replace("emitted-", "")}`];
    this.args = new DataView(new ArrayBuffer(code.size));
    this.argsAddress = loader.address(this.args.buffer);
    this.hosts = Object.values(binding.views).map(hostOf);
    for (const field of code.fields) {
      const value = this.valueOf(field.slot, loader);
      if (value !== undefined) setField(this.args, field, value);
    }
  }

  /** Value of the struct's member; undefined for members that the call fills. */
  private valueOf(slot: PortSlot, loader: Loader): number | bigint | boolean | undefined {
    const { views, scalars, policy } = this.binding;
    const bound = (axis: number) => (policy.kind === "range" ? { begin: policy.begin[axis], extent: policy.extents[axis] } : undefined)!;
    switch (slot.kind) {
      case "scalar":
        return scalars[slot.name];
      case "view": {
        const view = views[slot.name];
        // Passes 0 for an empty view, which is never read.
        return spanOf(view) === 0 ? 0n : loader.address(hostOf(view)) + BigInt(addressOf(view));
      }
      case "extent":
        return views[slot.name].shape[slot.axis];
      case "stride":
        return views[slot.name].strides[slot.axis];
      case "league":
        return policy.kind === "team" ? policy.league : undefined;
      case "begin":
        return bound(slot.axis).begin;
      case "end":
        return bound(slot.axis).begin + bound(slot.axis).extent;
      case "result":
      case "status":
      case "stream":
        return undefined;
      default:
        return unreachable(slot);
    }
  }

  run(): Record<string, number> {
    this.code.function.call(this.argsAddress);
    const status = this.get({ kind: "status" });
    if (status === THREW) throw new DeviceError(this.device, `kernel "${this.binding.kernel.name}" has thrown an exception, which standard error shows`);
    if (status !== 0)
      throw new DeviceError(this.device, `kernel "${this.binding.kernel.name}" found no memory for partial results`, "use a smaller range");
    const results: Record<string, number> = {};
    for (const param of this.binding.ir.params) {
      if (param.kind !== "reduce") continue;
      const value = (results[param.name] = this.get({ kind: "result", name: param.name }));
      const output = this.binding.outputs[param.name];
      if (output) writeView(output, [value]);
    }
    return results;
  }

  source(): string {
    return this.code.text;
  }

  free(): void {}

  private get(slot: PortSlot): number {
    const text = slotText(slot);
    return getField(
      this.args,
      this.code.fields.find((field) => slotText(field.slot) === text)!,
    );
  }
}
