/* STREAmS-2's Fortran, which is fetched apart: tests of it are skipped without. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { portSources, settingsOf, type FortranTarget } from "../../src/fortran/index.js";

const folder = process.env["ISOFORM_STREAMS"];

/** Options of a test that reads it. */
export const needsStreams = { skip: folder && existsSync(folder) ? false : "ISOFORM_STREAMS names no copy of STREAmS-2's code/src" };

export const streamsFile = (name: string): string => join(folder!, name);
export const streamsText = (name: string): string => readFileSync(streamsFile(name), "utf8");

/** All files of free form, by their paths in the folder. */
export const streamsFiles = (): string[] =>
  ["", "singleideal"].flatMap((part) =>
    readdirSync(join(folder!, part))
      .filter((name) => name.endsWith(".F90"))
      .map((name) => join(part, name)),
  );

/** Kernels whose serial loop the original's CPU port has outermost. */
export const LIFTED = [
  "visflx_cuf",
  "visflx_c2_cuf",
  "visflx_nosensor_cuf",
  "visflx_nosensor_c2_cuf",
  "euler_x_fluxes_hybrid_c2_kernel",
  "euler_x_fluxes_hybrid_kernel",
  "euler_x_fluxes_hybrid_rusanov_kernel",
  "euler_y_hybrid_c2_kernel",
  "euler_y_hybrid_kernel",
  "euler_y_hybrid_rusanov_kernel",
  "euler_z_hybrid_kernel",
  "euler_z_hybrid_rusanov_kernel",
];

/** The text of its GPU kernels as a port, with the names of its own CPU kernels; `idx` as these have their loops. */
export function streamsPort(target: FortranTarget): string {
  const rename = { [target]: { _gpu: "_cpu", _cuf: "_subroutine" } };
  const loops = Object.fromEntries(LIFTED.map((name) => [name, { idx: ["k", "j", "i"] }]));
  const sources = [{ file: "kernels_gpu.F90", text: streamsText("singleideal/kernels_gpu.F90") }];
  const [{ text }] = portSources(sources, { targets: [target], settings: settingsOf({ port: { rename }, ...loops }, "port.toml") });
  return text;
}
