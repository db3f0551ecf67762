import type { Command } from "commander";
import type { BackendReport } from "../device/device.js";
import type { Shell } from "../portability/application.js";

/** Adds `isoform doctor`. */
export function addDoctor(program: Command, shell: Shell): void {
  program
    .command("doctor")
    .description("list backends, devices with their capabilities, and HDF5; say why something is missing, and what to do")
    .option("--json", "print it as JSON")
    .action(async (options: { json?: boolean }) => {
      const { doctor } = await import("../device/open.js");
      const reports = await doctor();
      if (options.json) shell.print(JSON.stringify(reports, null, 2));
      else shell.print([...reports.map(reportText), await hdf5Text()].join("\n\n"));
    });
}

function reportText({ backend, devices, versions, missing }: BackendReport): string {
  const found = Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
  const lines = [found ? `${backend}  (${found})` : backend];
  for (const { name, label, capabilities } of devices) {
    lines.push(`  ${name}: ${label}`);
    lines.push(
      `    ${[
        capabilities.f64 ? "f64" : "no f64",
        `${capabilities.parallelism} in parallel`,
        capabilities.simdBytes ? `SIMD ${capabilities.simdBytes * 8} bits` : "no SIMD",
        Number.isFinite(capabilities.memory) ? `memory ${gib(capabilities.memory)}` : "memory not told",
        `largest view ${gib(capabilities.maxAllocation)}`,
      ].join(", ")}`,
    );
  }
  if (missing) lines.push(...missingLines(missing));
  return lines.join("\n");
}

/** What `isoform/io` writes HDF5 files with is no backend, but as optional. */
async function hdf5Text(): Promise<string> {
  const { hdf5Missing } = await import("../io/hdf5-file.js");
  const missing = await hdf5Missing();
  const lines = missing ? missingLines(missing) : ["  files are written and read by h5wasm"];
  return ["HDF5", ...lines].join("\n");
}

const missingLines = ({ reason, remedy }: { reason: string; remedy: string }): string[] => [`  missing: ${reason}`, `  remedy:  ${remedy}`];

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
