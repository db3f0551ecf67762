import { type Command, Option } from "commander";
import type { Shell } from "../portability/application.js";
import type { PeaksByDevice, Profile, Profiler, ProfilerOptions } from "../portability/profile/index.js";

interface ProfileOptions {
  profile?: boolean;
  profileJson?: string;
  profileTrace?: string;
  profileGraphs: NonNullable<ProfilerOptions["graphs"]>;
  nvtx?: boolean;
}

/** Samples of one label before a trace thins them out: many, to leave few gaps. */
const TRACED = 4096;
/** Runs for a peak, which is the best of them. */
const REPEATS = 2;

/** Adds `--profile` and related options to all commands; they hold for all devices that a command opens. */
export function addProfile(program: Command, shell: Shell): void {
  let profiler: Profiler | undefined;
  program
    .option("--profile", "print a table at the end: time, GB/s and share of the roofline of each kernel, copy, wait and region")
    .option("--profile-json <file>", "write the table of --profile as JSON")
    .option("--profile-trace <file>", "write a timeline for chrome://tracing and Perfetto")
    .addOption(
      new Option("--profile-graphs <how>", "time a captured graph as one launch (whole), or launch by launch (apart), which is slower")
        .choices(["whole", "apart"])
        .default("whole"),
    )
    .option("--nvtx", "name regions, launches, copies and waits in the timelines of NVIDIA's tools")
    .hook("preAction", async (command) => {
      const { profile, profileJson, profileTrace, profileGraphs: graphs, nvtx: ranges } = command.opts<ProfileOptions>();
      await shell.checkOutputs({ profileJson, profileTrace });
      if (ranges) await attachNvtx();
      if (!profile && profileJson === undefined && profileTrace === undefined) return;
      const { Profiler } = await import("../portability/profile/profiler.js");
      profiler = Profiler.start(profileTrace === undefined ? { graphs } : { graphs, trace: true, samples: TRACED });
    })
    .hook("postAction", async (command) => {
      if (!profiler) return;
      const { profile, profileJson, profileTrace } = command.opts<ProfileOptions>();
      const found = await profiler.stop();
      const reports = await import("../portability/profile/index.js");
      if (profileTrace !== undefined) await shell.writeFile(profileTrace, reports.profileTrace(found));
      if (!profile && profileJson === undefined) return;
      const peaks = await peaksOf(found, shell);
      if (profile) shell.print(`\n${reports.profileText(found, peaks)}`);
      if (profileJson !== undefined) await shell.writeFile(profileJson, reports.profileJson(found, peaks));
    });
}

async function attachNvtx(): Promise<void> {
  const { hooks } = await import("../device/tools/hooks.js");
  const { nvtx } = await import("../portability/profile/nvtx.js");
  const { tool, missing } = await nvtx();
  if (tool) hooks.attach(tool);
  else process.stderr.write(`isoform: no ranges, ${missing}\n`);
}

/** Measures peaks after the command, on devices that are opened again. */
async function peaksOf({ devices }: Profile, shell: Shell): Promise<PeaksByDevice> {
  const { open } = await import("../device/open.js");
  const { measurePeaks } = await import("../portability/measure.js");
  const peaks: Record<string, PeaksByDevice[string]> = {};
  for (const { name } of devices) {
    // It checks every access, so that a roofline says nothing about its times.
    if (name === "js-debug") continue;
    const device = await open(name, { tune: false, f64: "emulate" });
    const task = shell.progress(`peaks of ${name}`);
    try {
      peaks[name] = await measurePeaks(device, { repeats: REPEATS, progress: task.update });
    } finally {
      task.done();
      await device.close();
    }
  }
  return peaks;
}
