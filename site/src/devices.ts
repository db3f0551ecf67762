import { doctor, type BackendReport, type OpenOptions } from "isoform";
import { devices, type DeviceSet } from "isoform/set";

/** Best first, unless it is only there in software. */
const OFFERED = ["webgpu", "wasm", "js"] as const;

const NAMES: Readonly<Record<string, string>> = { webgpu: "WebGPU", wasm: "WebAssembly", js: "JavaScript" };

/** Fills `select` with the devices of this browser; those that are missing say why. The best one is chosen: a GPU that is emulated on the CPU is none. */
export async function offerDevices(select: HTMLSelectElement): Promise<void> {
  const found = await doctor();
  const reports = OFFERED.map((name) => found.find(({ backend }) => backend === name)!);
  select.replaceChildren(...reports.map(optionOf));
  const inHardware = ({ devices }: BackendReport): boolean => devices.some(({ label }) => !label.includes("(software)"));
  select.value = reports.find(inHardware)!.backend;
}

function optionOf({ backend, missing }: BackendReport): HTMLOptionElement {
  const option = document.createElement("option");
  option.value = backend;
  option.disabled = missing !== undefined;
  option.textContent = missing ? `${NAMES[backend]}: ${missing.reason}` : NAMES[backend];
  option.title = missing?.remedy ?? "";
  return option;
}

/** Opens a device for the gallery. Throws DeviceError. */
export const openDevice = (name: string, options: OpenOptions): Promise<DeviceSet> => devices(name, options);

/** What runs there, in words. */
export function describeDevice({ members: [{ device }] }: DeviceSet): string {
  const { label, abilities, backend } = device;
  const vectors = backend === "wasm" ? (abilities.simdBytes > 0 ? ", with vector instructions" : ", without vector instructions") : "";
  return `${NAMES[backend]} on ${label}${vectors}`;
}
