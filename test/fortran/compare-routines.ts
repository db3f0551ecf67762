/* Compares random routines on devices and as ports with what gfortran makes of them. */
import { fortran, FortranError, portSources, type FortranTarget } from "../../src/fortran/index.js";
import type { Device } from "../../src/index.js";
import { withEmittedC } from "./emitted-c.js";
import { byHip } from "./cpp-routines.js";
import {
  byGfortran,
  byIsoform,
  differenceOf,
  onlyRoutines,
  randomLaunches,
  routineText,
  type Outcome,
  type Routines,
} from "./whole-routines.js";

export type RoutinePort = FortranTarget | "hip";

/** Checks what one routine leaves. @throws Error with the routine where it differs */
type Check = (name: string, found: Outcome, where: string, ported?: string) => void;

function checking(routines: Routines, expected: readonly Outcome[]): Check {
  return (name, found, where, ported) => {
    const difference = differenceOf(expected[routines.names.indexOf(name)], found, routines);
    const text = ported === undefined ? "" : routineText({ text: ported }, name);
    if (difference) throw new Error(`on ${where}: ${difference}\n${routines.parts.get(name)!}\n${text}`);
  };
}

/** Compares routines whose loops run as emitted C. @throws Error with the routine where one differs */
export async function compareEmittedC(routines: Routines, memory: Device, reference = routines): Promise<void> {
  const check = checking(routines, byGfortran(reference));
  const code = fortran(routines.text, { file: "routines.CUF" });
  await withEmittedC(code, memory, async (device) => {
    for (const name of routines.names) check(name, await byIsoform(code, routines, name, device), "emitted C");
  });
}

async function onDevices(routines: Routines, devices: readonly Device[], check: Check): Promise<void> {
  const code = fortran(routines.text, { file: "routines.CUF" });
  for (const device of devices)
    for (const name of routines.names) check(name, await byIsoform(code, routines, name, device), device.backend);
}

const portedText = ({ text }: Routines, target: FortranTarget): string =>
  portSources([{ file: "routines.CUF", text }], { targets: [target] })[0].text;

function asPort(all: Routines, target: FortranTarget, check: Check): number {
  const text = portedText(all, target);
  const found = byGfortran(all, { text });
  all.names.forEach((name, at) => check(name, found[at], `a port to ${target}`, text));
  return all.names.length;
}

function asHip(all: Routines, backwards: boolean, check: Check): number {
  const { routines, found } = byHip(all, backwards);
  routines.names.forEach((name, at) => check(name, found[at], "a port to hip"));
  return routines.names.length;
}

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
  const check = checking(all, byGfortran(all));
  await onDevices(all, devices, check);
  return new Map(ports.map((port) => [port, port === "hip" ? asHip(all, all.n % 2 === 0, check) : asPort(all, port, check)]));
}

/**
 * The same for kernels of CUDA Fortran and their launches; all ports leave out what they refuse.
 *
 * @throws Error with the routine where one differs
 */
export async function compareLaunches(
  seed: number,
  count: number,
  devices: readonly Device[],
  ports: readonly RoutinePort[],
): Promise<Map<RoutinePort, number>> {
  const { cuda, plain } = randomLaunches(seed, count);
  const check = checking(cuda, byGfortran(plain));
  await onDevices(cuda, devices, check);
  return new Map(
    ports.map((port) => {
      if (port === "hip") return [port, asHip(cuda, cuda.n % 2 === 0, check)];
      const names = cuda.names.filter((name) => isPorted(onlyRoutines(cuda, [name]), port));
      return [port, names.length === 0 ? 0 : asPort(onlyRoutines(cuda, names), port, check)];
    }),
  );
}

function isPorted(routines: Routines, target: FortranTarget): boolean {
  try {
    portedText(routines, target);
    return true;
  } catch (error) {
    if (error instanceof FortranError) return false;
    throw error;
  }
}
