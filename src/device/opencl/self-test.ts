import { recall, remember } from "../../cache/cache.js";
import { DeviceError } from "../../base/errors.js";
import { teamKernel } from "../../kernel/declare/kernel.js";
import { f32, i32, view } from "../../kernel/declare/params.js";
import type { Device } from "../device.js";
import { programOf } from "../gpu/program.js";
import { bind } from "../launch/bind.js";
import { teams } from "../launch/policy.js";
import { View } from "../memory/view.js";
import type { OpenclDevice } from "./opencl-device.js";

/*
 * A device is asked for a sum that compilers have got wrong: PoCL 3.1 loses what a team adds up of its scratch memory where the loop for it was
 * written in another way. The result is the same for every driver and code, so it is kept on disk, and a device that has passed opens as fast as before.
 */

const COUNT = 25;
const TEAMS = 2;

/** Each team adds up `COUNT` ones of its scratch memory, and as many again under a condition; `n` is `COUNT`, which the compiler is not told. */
const addsUp = teamKernel("self_test", { n: i32, out: view(f32, 2) }, ({ n, out }, team) => {
  const ones = team.scratch("f32", 25);
  team.range(25, (j) => {
    ones[j] = 1;
  });
  const plain = team.sum(25, (j) => ones[(j + 1) % n]);
  const chosen = team.sum(25, (j) => (n > 3 ? Math.min(ones[j], ones[(j + n) % 25]) : 2));
  out[team.index][0] = plain;
  out[team.index][1] = chosen;
});

/** Throws DeviceError, with the device closed, where its compiler breaks the test. */
export async function requireRightTeams(device: OpenclDevice): Promise<void> {
  const { driver, platform, label } = device.gpu.facts;
  // Not an array of the program, so that tools do not count it.
  const buffer = device.gpu.allocate(TEAMS * 2 * 4);
  const out = new View(buffer, f32, [TEAMS, 2], [2, 1], 0);
  try {
    const args = { n: COUNT, out };
    const options = { precision: "strict" } as const;
    const { program } = programOf(bind(device, addsUp, args, teams(TEAMS), options), device.gpu.language, device.gpu.facts);
    const parts = [platform, label, driver, program.source];
    if (recall("passed", parts)) return;
    await device.run(addsUp, args, teams(TEAMS), options);
    const wrong = wrongSum(await device.queue.read(out));
    if (wrong === undefined) return void remember("passed", parts, Uint8Array.of(1));
    throw refusal(device, wrong);
  } catch (error) {
    await device.close();
    throw error;
  } finally {
    buffer.free();
  }
}

/** The first sum that is not `COUNT`, if any. */
export const wrongSum = (sums: ArrayLike<number>): number | undefined => Array.from(sums).find((sum) => sum !== COUNT);

/** Message about a device whose result is `sum`. */
export const refusal = ({ name, label }: Pick<Device, "name" | "label">, sum: number): DeviceError =>
  new DeviceError(
    name,
    `the compiler of ${label} gets a sum over a team's scratch memory wrong: ${COUNT} ones gave ${sum}, so its results cannot be trusted`,
    "update the driver, or use another backend",
  );
