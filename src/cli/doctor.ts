import type { Command } from "commander";
import type { BackendReport } from "../device/device.js";
import type { Shell } from "../p3/application.js";

/** Adds `isoform doctor`. */
export function addDoctor(program: Command, shell: Shell): void {
  program
    .command("doctor")
    .description("list every backend and device with its abilities; for a missing one the reason and the remedy")
    .option("--json", "print JSON")
    .action(async (options: { json?: boolean }) => {
      const { doctor } = await import("../device/open.js");
      const reports = await doctor();
      shell.print(options.json ? JSON.stringify(reports, null, 2) : reports.map(reportText).join("\n\n"));
    });
}

function reportText({ backend, devices, versions, missing }: BackendReport): string {
  const found = Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(", ");
  const lines = [found ? `${backend}  (${found})` : backend];
  for (const { name, label, abilities } of devices) {
    lines.push(`  ${name}: ${label}`);
    lines.push(
      `    ${[
        abilities.f64 ? "f64" : "no f64",
        `${abilities.parallelism} in parallel`,
        abilities.simdBytes ? `SIMD ${abilities.simdBytes * 8} bits` : "no SIMD",
        `memory ${gib(abilities.memory)}`,
        `largest view ${gib(abilities.maxAllocation)}`,
      ].join(", ")}`,
    );
  }
  if (missing) lines.push(`  missing: ${missing.reason}`, `  remedy:  ${missing.remedy}`);
  return lines.join("\n");
}

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
