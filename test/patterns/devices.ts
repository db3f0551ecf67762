import { after, describe } from "node:test";
import type { Device } from "../../src/device/device.js";
import { backendNames, open } from "../../src/device/open.js";
import { tested } from "../devices.js";

/** Describes `tests` for every backend, in strict mode; one that the machine lacks is skipped by name, with the reason. */
export async function eachDevice(subject: string, tests: (device: Device) => void): Promise<void> {
  for (const name of backendNames().filter(tested)) {
    const opened = await open(name).then(
      (device) => ({ device }),
      (error: Error) => ({ missing: error.message }),
    );
    if ("missing" in opened) describe(`${subject} on ${name}`, { skip: opened.missing }, () => {});
    else
      describe(`${subject} on ${name}`, () => {
        opened.device.precision = "strict";
        after(() => opened.device.close());
        tests(opened.device);
      });
  }
}
