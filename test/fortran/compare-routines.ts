/* Compares random routines on devices and as ports with what gfortran makes of them. */
import { fortran, portSources, type FortranTarget } from "../../src/fortran/index.js";
import type { Device } from "../../src/index.js";
import { byHip } from "./cpp-routines.js";
import { byGfortran, byIsoform, differenceOf, routineText, type Outcome, type Routines } from "./whole-routines.js";

export type RoutinePort = FortranTarget | "hip";

/**
 * Compares all routines on devices, and as ports. A port to HIP leaves out the routines that it refuses.
 *
 * @returns the number of routines that each port has
 * @throws Error with the routine where one differs, or is refused elsewhere
 */
export async function compareRoutines(
  all: Routines,
  devices: readonly Device[],
  ports: readonly RoutinePort[],
): Promise<Map<RoutinePort, number>> {
  const expected = byGfortran(all);
  const check = (name: string, found: Outcome, where: string, ported?: string): void => {
    const difference = differenceOf(expected[all.names.indexOf(name)], found, all);
    if (difference)
      throw new Error(`on ${where}: ${difference}\n${routineText(all, name)}${ported ? routineText({ text: ported }, name) : ""}`);
  };
  const code = fortran(all.text, { file: "routines.f90" });
  for (const device of devices) for (const name of all.names) check(name, await byIsoform(code, all, name, device), device.backend);
  const counts = new Map<RoutinePort, number>();
  for (const [n, port] of ports.entries()) {
    if (port === "hip") {
      const { routines, found } = byHip(all, n % 2 === 1);
      routines.names.forEach((name, at) => check(name, found[at], "a port to hip"));
      counts.set(port, routines.names.length);
      continue;
    }
    const [{ text }] = portSources([{ file: "routines.f90", text: all.text }], { targets: [port] });
    const found = byGfortran(all, { text });
    all.names.forEach((name, at) => check(name, found[at], `a port to ${port}`, text));
    counts.set(port, all.names.length);
  }
  return counts;
}
