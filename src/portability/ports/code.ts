import { derive } from "../../cache/derive.js";
import type { Binding } from "../../device/launch/binding.js";
import type { Loader } from "../../device/native/library.js";
import { stemOf, TARGETS, type EmitRequest } from "../../emit/standalone/index.js";
import { unitStridesOf } from "../../emit/standalone/request.js";
import type { KernelIR } from "../../ir/types.js";
import { EmitError } from "../../base/errors.js";
import { portCall, type PortCall } from "./call.js";
import { compiledEntry, type LoadedEntry, type Toolchain } from "./toolchain.js";

/** An emitted file, compiled and loaded, and how it is called. */
export interface PortCode extends PortCall, LoadedEntry {
  /** The file, as isoform emit writes it. */
  readonly text: string;
}

/** Emits, compiles and loads the kernels of one port. */
export class PortCompiler {
  constructor(
    readonly toolchain: Toolchain,
    private readonly loader: Loader,
  ) {}

  /** Code of a launch. Throws EmitError by the kernel's name for what emitted files cannot do, DeviceError where it does not compile. */
  of(binding: Binding): PortCode {
    const { ir, access, precision, policy, views } = binding;
    const refuse = (problem: string, remedy: string) => new EmitError(binding.kernel.name, this.toolchain.port, problem, remedy);
    if (binding.partials || binding.unfolded)
      throw refuse(
        "its launch returns partial results, and emitted files fold them",
        "run it in fast mode, or on one device that is not divided",
      );
    if (binding.peerStores.length > 0) throw refuse("its launch stores in another device's memory", "run it on one device");
    if (!binding.disjointMemory) throw refuse("its arrays share memory", "give it arrays that do not overlap");
    const unitStrides = unitStridesOf(views);
    const request: EmitRequest = { ir, access, precision, stem: stemOf(ir.name), unitStrides, sizes: { policy, views } };
    return derive(ir, this.compiled, request, JSON.stringify([precision, unitStrides]));
  }

  private readonly compiled = ({ name }: KernelIR, request: EmitRequest): PortCode => {
    const { port } = this.toolchain;
    const [{ text }] = TARGETS[port](request);
    const call = portCall(port, request);
    const source = { name: stemOf(name), text: `${text}\n${call.source}`, entry: call.entry };
    return { ...call, text, ...compiledEntry(this.loader, this.toolchain, source, request.precision) };
  };
}
