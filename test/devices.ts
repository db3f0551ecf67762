/** Devices that need nothing but Node. */
export const NODE_DEVICES: readonly string[] = ["js", "js-debug", "wasm"];

/** What ISOFORM_TEST_DEVICES asks for: names of devices and compilers, and "others" for all that are not `NODE_DEVICES`. */
const asked = process.env.ISOFORM_TEST_DEVICES?.split(",");

/** Why tests of a device, which the file does not leave out, are skipped. */
export const NOT_ASKED = `this run is for ${process.env.ISOFORM_TEST_DEVICES}`;

/**
 * Whether this run of the tests is for the device, set of devices or compiler of that name (all of them, unless ISOFORM_TEST_DEVICES asks
 * for some). A set counts for what it has beyond `NODE_DEVICES`.
 */
export function tested(name: string): boolean {
  if (!asked) return true;
  const parts = name.split(",").map((part) => part.replace(/[:*].*/, ""));
  const others = parts.filter((part) => !NODE_DEVICES.includes(part));
  return others.length
    ? others.every((part) => asked.includes(part) || asked.includes("others"))
    : parts.every((part) => asked.includes(part));
}

/**
 * Why a test that goes over no devices, or over `NODE_DEVICES` alone, is skipped where the file runs for others: its own tier has run it. False elsewhere.
 */
export const ELSEWHERE = tested("js") ? false : NOT_ASKED;

/** The one device that ISOFORM_TEST_DEVICES names, or `otherwise`: for tests that take long and run on one device. */
export const oneDevice = (otherwise: string): string => (asked?.length === 1 && asked[0] !== "others" ? asked[0] : otherwise);
