import type { Device } from "../../device/device.js";
import { groupBy } from "../group.js";
import { isProcessor } from "../machine.js";
import type { Application, ProblemOptions } from "../application.js";
import type { AssessedTarget } from "../target.js";
import type { Contestant } from "../trials.js";
import { prepareProgram } from "./prepare.js";
import { HANDWRITTEN, type HandWrittenLanguage } from "./sources.js";

/** Language of hand-written programs for this device; undefined if there is none. */
function languageOf(device: Device): HandWrittenLanguage | undefined {
  if (isProcessor(device)) return "c";
  return device.backend === "cuda" ? "cuda" : undefined;
}

const TITLES: Readonly<Record<HandWrittenLanguage, string>> = { c: "C/OpenMP", cuda: "CUDA" };

/** The hand-written program of an application, once for each single device's hardware among the targets. */
export function handWritten(application: Application, targets: readonly AssessedTarget[], problem: ProblemOptions): Contestant[] {
  if (!application.byHand) return [];
  const single = targets.filter(({ set, devices }) => set.members.length === 1 && languageOf(devices[0]) !== undefined);
  return [...groupBy(single, ({ platform }) => platform).values()].map(([target]): Contestant => {
    const [device] = target.devices;
    const language = languageOf(device)!;
    const ordinal = Number(device.name.split(":")[1] ?? 0);
    return {
      codePath: HANDWRITTEN,
      target,
      bytes: application.footprint(problem),
      devices: TITLES[language],
      precision: "fast",
      byHand: true,
      prepare: async () => prepareProgram(await application.byHand!(problem), language, ordinal),
    };
  });
}
