import { hooks } from "../device/tools/hooks.js";
import type { Launch } from "../device/device.js";
import { GpuLaunch } from "../device/gpu/launch.js";
import type { Kernel } from "../kernel/declare/kernel.js";
import { compileLine } from "./compile.js";
import { codeLines, emittedLines, type LineCount } from "./lines.js";
import { GpuPortLaunch } from "./ports/gpu-port.js";
import { portOf } from "./ports/names.js";
import type { Toolchain } from "./ports/toolchain.js";
import { resourceUsage } from "./resources.js";
import type { Build, KernelResources } from "./schema.js";
import type { Run } from "./cells.js";
import type { Precision } from "../ir/launch.js";

/** How a code path was built: its kernels' files and resources, found while it warms up. */
export class BuildNotes {
  private readonly lines = new Map<string, LineCount>();
  private readonly source = new Map<string, number>();
  private readonly resources = new Map<string, GpuLaunch["resources"]>();
  private readonly libraries = new Map<string, string>();

  /** @param device as in `--devices`; a port's has files, and `toolchain` compiles them */
  constructor(
    private readonly device: string,
    private readonly toolchain: Toolchain | undefined,
  ) {}

  /** Notes what the work launches. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const detach = hooks.attach({ endKernel: ({ launches }) => launches.forEach((launch) => this.note(launch)) });
    try {
      return await work();
    } finally {
      detach();
    }
  }

  private note(launch: Launch): void {
    const { kernel } = launch;
    if (this.source.has(kernel.name)) return;
    this.source.set(kernel.name, sourceLines(kernel));
    const port = portOf(this.device);
    if (port !== undefined) this.lines.set(kernel.name, emittedLines(port, launch.source()));
    if (launch instanceof GpuPortLaunch) this.libraries.set(kernel.name, launch.library);
    else if (launch instanceof GpuLaunch) this.resources.set(kernel.name, launch.resources);
  }

  /** The port's entry; undefined for other code paths. */
  build(key: Pick<Run, "application" | "platform" | "problem">, precision: Precision): Build | undefined {
    const { toolchain } = this;
    if (toolchain === undefined) return undefined;
    const { command, version } = toolchain;
    return {
      ...key,
      port: toolchain.port,
      compiler: command,
      version,
      command: compileLine({ ...toolchain, options: toolchain.options(precision) }, "KERNEL"),
      precision,
      kernels: this.source.size,
      lines: added([...this.lines.values()]),
      source: [...this.source.values()].reduce((a, b) => a + b, 0),
    };
  }

  kernelResources(key: Pick<Run, "application" | "platform" | "problem">): KernelResources[] {
    const launched = [...this.resources].flatMap(([kernel, found]) => (found ? [{ ...key, kernel, ...found }] : []));
    const compiled = [...this.libraries.values()].flatMap((library) => resourceUsage(library, this.toolchain!.command) ?? []);
    return [...launched, ...compiled.map(({ name, ...found }) => ({ ...key, kernel: name, ...found }))];
  }
}

const added = (counts: readonly LineCount[]): LineCount =>
  counts.reduce((a, b) => ({ total: a.total + b.total, kernels: a.kernels + b.kernels, data: a.data + b.data }), {
    total: 0,
    kernels: 0,
    data: 0,
  });

/** Lines of the function that a kernel is written as; of generated ones, of their containers, which several may share: 0. */
const sourceLines = ({ body, ir }: Kernel): number => (ir ? 0 : codeLines(body.toString()));
