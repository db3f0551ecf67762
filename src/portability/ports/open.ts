import { threadCount } from "../../device/cpu/pool.js";
import { describeMachine } from "../../device/cpu/machine.js";
import type { Device } from "../../device/device.js";
import { askCompiler, findCompiler, type Compiler } from "../../device/native/compiler.js";
import { limitSpinning, Loader, loadWorkingKoffi } from "../../device/native/library.js";
import { cover } from "../../device/tools/tools.js";
import { DeviceError } from "../../base/errors.js";
import { portDevice, type Port } from "./names.js";
import { PortDevice } from "./port-device.js";
import { compiledEntry, type Toolchain } from "./toolchain.js";

/**
 * The device of a port, by the compiler of `native`. For omp-target $OMP_TARGET_CC is the compiler, and $OMP_TARGET_FLAGS what it needs to
 * offload, such as `-foffload=nvptx-none`. Throws DeviceError for what is missing.
 */
export async function openPort(port: Port): Promise<Device> {
  const name = portDevice(port);
  const koffi = await loadWorkingKoffi();
  if (!koffi) throw new DeviceError(name, "the package koffi, which calls compiled code, does not load", "npm install koffi");
  const compiler = port === "omp-target" ? offloadingCompiler(name) : findCompiler();
  if (!compiler)
    throw new DeviceError(name, "no C compiler was found ($CC, gcc, clang, cc)", "install gcc or clang, such as apt install gcc");
  const threads = threadCount();
  limitSpinning();
  process.env.OMP_NUM_THREADS ??= String(threads);
  const loader = new Loader(koffi);
  const { label } = describeMachine(threads);
  const opened = (where: string, onHost: boolean): Device => {
    const device = new PortDevice(port, { compiler, loader, threads, label: where, onHost });
    cover(device);
    return device;
  };
  if (port === "c") return opened(`${label}, emitted C`, true);
  const place = targetMemory(name, { compiler, loader });
  if (place === undefined) return opened(`${label}, OpenMP target regions on the host`, true);
  return opened(`OpenMP device ${place}, by ${compiler.command}`, false);
}

/** With flags, where it has some. GCC is made not to offload unless the user says where to: it would begin to look for accelerators. */
function offloadingCompiler(device: string): Compiler | undefined {
  const { OMP_TARGET_CC: wish, OMP_TARGET_FLAGS: flags } = process.env;
  const compiler = wish ? askCompiler(wish) : findCompiler();
  if (wish && !compiler) throw new DeviceError(device, `the compiler ${wish} of $OMP_TARGET_CC does not answer`, "name another one");
  if (!compiler) return undefined;
  const byDefault = /clang/.test(compiler.version) ? "" : "-foffload=disable";
  return { ...compiler, command: `${compiler.command} ${flags ?? byDefault}`.trim() };
}

const PLACE = `#include <omp.h>
#include <stdint.h>

void place_of_targets(int32_t *place) {
  int initial = 1;
#pragma omp target map(from: initial)
  initial = omp_is_initial_device();
  *place = initial ? -1 : omp_get_default_device();
}
`;

/** The number of the device that runs target regions; undefined if it is the host. */
function targetMemory(device: string, tools: Toolchain): number | undefined {
  const place = new Int32Array(1);
  compiledEntry(device, tools, "place of targets", PLACE, "place_of_targets", "fast").call(tools.loader.address(place.buffer));
  return place[0] < 0 ? undefined : place[0];
}
