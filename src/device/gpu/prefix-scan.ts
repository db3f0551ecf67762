import { SCAN_ENTRY, type ScanSlot } from "../../emit/c/gpu/scan.js";
import { identityOf } from "../../ir/identity.js";
import type { Kernel } from "../../kernel/declare/kernel.js";
import type { ScanLanguage } from "../../schedule/program.js";
import type { PrefixScan } from "../device.js";
import { teams } from "../launch/policy.js";
import type { GpuMachine } from "./machine.js";
import { OwnWork } from "./own-work.js";
import { blocks, fillFrom } from "./steps.js";
import { addressOf } from "./values.js";

/** Bytes of the state of a tile, and of the counter before them. */
const STATE = 8;

/** A scan in one pass over its input. Throws DeviceError where the device's memory does not suffice for the states of its tiles. */
export function gpuPrefixScan(gpu: GpuMachine, language: ScanLanguage, scan: PrefixScan, kernel: Kernel): OwnWork {
  const { input, output, op, exclusive, total } = scan;
  const tiles = blocks(input.length, language.tile);
  const source = language.source(input.type, op, identityOf(op, input.type));
  const bytes = STATE * (tiles + 1);
  return new OwnWork(gpu, {
    what: "a scan",
    kernel,
    policy: teams(tiles),
    cost: { flops: input.length, bytes: 8 * input.length },
    remarks: [`a scan of ${tiles} tiles of ${language.tile} elements, each of which looks back at the tiles before it`],
    read: [input],
    written: [output, total],
    source,
    bytes,
    steps: (address) => {
      if (tiles === 0) return [];
      const entry = gpu.load(source, false, "scan", [SCAN_ENTRY.name]).get(SCAN_ENTRY.name)!;
      const fill = fillFrom<ScanSlot["kind"]>({
        input: addressOf(input),
        output: addressOf(output),
        count: input.length,
        exclusive,
        states: address,
        total: total ? addressOf(total) : 0,
      });
      const shape = { grid: [tiles, 1, 1], block: [language.threads, 1, 1] } as const;
      return [gpu.fillStep(address, 0, bytes), gpu.kernelStep(SCAN_ENTRY, entry, shape, fill)];
    },
  });
}
