import { doctor, type BackendReport, type OpenOptions } from "isoform";
import { devices, type DeviceSet } from "isoform/set";

/** The device that the address asks for, behind # or before. */
const askedFor = (): string | null =>
  new URLSearchParams(location.hash.split("?")[1]).get("device") ?? new URLSearchParams(location.search).get("device");

/** Best first, unless it is only there in software. */
const OFFERED = ["webgpu", "wasm", "js"] as const;

const NAMES: Readonly<Record<string, string>> = { webgpu: "WebGPU", wasm: "WebAssembly", js: "JavaScript" };

/**
 * Fills `select` with the devices of this browser; missing ones say why. Chosen is the one that the address asks for, else the best
 * one; a GPU that is emulated on the CPU does not count.
 */
export async function offerDevices(select: HTMLSelectElement): Promise<void> {
  const found = await doctor();
  const reports = OFFERED.map((name) => found.find(({ backend }) => backend === name)!);
  select.replaceChildren(...reports.map(optionOf));
  const inHardware = ({ devices }: BackendReport): boolean => devices.some(({ label }) => !label.includes("(software)"));
  select.value = reports.find(inHardware)!.backend;
  chooseAsked(select);
}

/** Chooses the device that the address asks for, if it is there. */
export function chooseAsked(select: HTMLSelectElement): void {
  const asked = askedFor();
  if ([...select.options].some(({ value, disabled }) => value === asked && !disabled)) select.value = asked!;
}

/** Notice that the address asks for a missing device; empty if it does not. */
export function tellMissing({ options }: HTMLSelectElement): string {
  const asked = askedFor();
  if (asked === null || [...options].some(({ value, disabled }) => value === asked && !disabled)) return "";
  return `; the address asks for ${Object.hasOwn(NAMES, asked) ? NAMES[asked] : "another device"}, which this browser does not have`;
}

/** The next device of the list that is there, undefined after the last. */
export function nextBest({ options, selectedIndex }: HTMLSelectElement): string | undefined {
  return [...options].slice(selectedIndex + 1).find(({ disabled }) => !disabled)?.value;
}

export const deviceTitle = (backend: string): string => NAMES[backend];

function optionOf({ backend, missing }: BackendReport): HTMLOptionElement {
  const option = document.createElement("option");
  option.value = backend;
  option.disabled = missing !== undefined;
  option.textContent = missing ? `${NAMES[backend]}: ${missing.reason}` : NAMES[backend];
  option.title = missing?.remedy ?? "";
  return option;
}

/** Opens a device for the gallery. Throws DeviceError. */
export const openDevice = (name: string, options?: OpenOptions): Promise<DeviceSet> => devices(name, options);

/** Describes how the device runs there. */
export function describeDevice({ locals: [{ device }] }: DeviceSet): string {
  const { label, capabilities, backend } = device;
  const vectors = backend === "wasm" ? (capabilities.simdBytes > 0 ? ", with vector instructions" : ", without vector instructions") : "";
  return `${NAMES[backend]} on ${label}${vectors}`;
}
