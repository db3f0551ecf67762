import type { Command } from "commander";
import type { BackendReport } from "../device/device.js";
import type { Shell } from "../portability/application.js";
import type { AbiName } from "../set/mpi/abi.js";

/** Adds `isoform doctor`. */
export function addDoctor(program: Command, shell: Shell): void {
  program
    .command("doctor")
    .description(
      "list backends, devices with their capabilities, HDF5, Parquet, MPI, NCCL, compilers of ports and TypeScript; say why something is missing, and what to do",
    )
    .option("--json", "print it as JSON")
    .action(async (options: { json?: boolean }) => {
      const { doctor } = await import("../device/open.js");
      const reports = await doctor();
      if (options.json) shell.print(JSON.stringify(reports, null, 2));
      else
        shell.print(
          [
            ...reports.map(reportText),
            await hdf5Text(),
            await parquetText(),
            await mpiText(),
            await ncclText(),
            await portsText(),
            await typeScriptText(),
          ].join("\n\n"),
        );
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
        Number.isFinite(capabilities.memory) ? `memory ${gib(capabilities.memory)}` : "memory unknown",
        `largest view ${gib(capabilities.maxAllocation)}`,
      ].join(", ")}`,
    );
  }
  if (missing) lines.push(...missingLines(missing));
  return lines.join("\n");
}

/** Reports h5wasm, with which `isoform/io` writes HDF5: optional, like a backend. */
async function hdf5Text(): Promise<string> {
  const { hdf5Missing } = await import("../io/hdf5-file.js");
  const missing = await hdf5Missing();
  const lines = missing ? missingLines(missing) : ["  files are written and read by h5wasm"];
  return ["HDF5", ...lines].join("\n");
}

/** The same of the packages for Parquet. */
async function parquetText(): Promise<string> {
  const { parquetMissing } = await import("../io/table/parquet.js");
  const missing = await parquetMissing();
  const lines = missing ? missingLines(missing) : ["  files are written and read by hyparquet-writer and hyparquet"];
  return ["Parquet", ...lines].join("\n");
}

/** Reports the libraries of MPI, for `mpi:` before names of devices: optional, too. */
async function mpiText(): Promise<string> {
  const { reportMpi } = await import("../set/mpi/report.js");
  const { launcher, processes, libraries, missing } = await reportMpi();
  const started = launcher === undefined ? "no launcher: mpirun -n 4 isoform ... starts 4 processes" : `launcher ${launcher}`;
  const lines = libraries.map(
    ({ path, why, abi, version }, n) => `  ${path} (${why}): ${version}, ${ABIS[abi]}${n === 0 ? "; the one that mpi: loads" : ""}`,
  );
  return [
    "MPI",
    `  ${started}${processes === undefined ? "" : `, ${processes} processes`}`,
    ...lines,
    ...(missing ? missingLines(missing) : []),
  ].join("\n");
}

/** Reports NCCL, which carries messages between GPUs of `mpi:cuda`: optional, too. */
async function ncclText(): Promise<string> {
  const { reportNccl } = await import("../set/nccl/report.js");
  const found = await reportNccl();
  if ("missing" in found)
    return ["NCCL", ...missingLines(found.missing), "  without it messages between GPUs go through the host"].join("\n");
  const { isIpcOff } = await import("../set/ipc/facts.js");
  const totals = isIpcOff()
    ? "totals of reductions, too, as ISOFORM_IPC is off"
    : "GPUs of one node exchange totals of reductions by CUDA IPC";
  return `NCCL\n  ${found.path}: NCCL ${found.version}; it carries messages of mpi:cuda between GPUs; ${totals}`;
}

/** Reports compilers of hand-written programs and of `isoform assess --ports`: optional, too. */
async function portsText(): Promise<string> {
  const { COMPILERS } = await import("../portability/compilers.js");
  const lines = Object.entries(COMPILERS).flatMap(([name, { find, missing }]) => {
    const found = find();
    if (found === undefined) return [`  ${name}`, ...missingLines(missing).map((line) => `  ${line}`)];
    return `  ${name}: ${found.command} (${found.version})`;
  });
  return ["Compilers for assess --ports", ...lines].join("\n");
}

/** Reports TypeScript, by which `isoform check` and editors read kernels: optional, too. */
async function typeScriptText(): Promise<string> {
  const { findTypeScript } = await import("../check/typescript.js");
  const found = findTypeScript(process.cwd());
  return [
    "TypeScript",
    ...("api" in found ? [`  ${found.path}: ${found.version}; isoform check and isoform lsp read kernels by it`] : missingLines(found)),
  ].join("\n");
}

/** Binary interfaces of MPI, in words. */
const ABIS: Readonly<Record<AbiName, string>> = {
  openmpi: "Open MPI's interface",
  mpich: "MPICH's interface",
  standard: "the standard interface of MPI 5",
};

const missingLines = ({ reason, remedy }: { reason: string; remedy: string }): string[] => [`  missing: ${reason}`, `  remedy:  ${remedy}`];

function gib(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}
