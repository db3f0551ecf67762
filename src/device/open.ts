import { LOADERS } from "#backends";
import { SPANNING } from "./spanning.js";
import { DeviceError } from "../base/errors.js";
import { requireOptions } from "../base/own.js";
import type { Backend, BackendReport, Device, OpenOptions } from "./device.js";
import { cover } from "./tools/tools.js";

/** Backends given to `registerBackend`, in that order. */
const registered = new Map<string, Backend>();

/** Form of backends' names: they begin names of devices such as `cuda:1` and of sets such as `cuda:*,wasm*3`. */
const NAME = /^[a-z][a-z-]*$/;

/**
 * Makes a backend known by its name, like those that come with the library: to `open`, `doctor` and `devices`, and to the command line
 * (`--backend`). Throws DeviceError for a name that is taken or that names of devices cannot begin with.
 */
export function registerBackend(backend: Backend): void {
  const { name } = backend;
  if (typeof name !== "string" || !NAME.test(name))
    throw new DeviceError(String(name), "this cannot name a backend", "use lower-case letters and hyphens, and begin with a letter");
  if (Object.hasOwn(LOADERS, name)) throw new DeviceError(name, "a backend of this name comes with isoform", "choose another name");
  if (registered.has(name))
    throw new DeviceError(name, "a backend of this name is registered already", "register it once, or choose another name");
  registered.set(name, backend);
}

/** Loads a backend; undefined if there is none of that name. */
function loaderOf(name: string): (() => Promise<Backend>) | undefined {
  if (Object.hasOwn(LOADERS, name)) return LOADERS[name];
  const backend = registered.get(name);
  return backend && (async () => backend);
}

/** Names of all backends that there may be in Node, or in a browser, whether or not this machine has a device for them. */
export const backendNames = (): string[] => [...Object.keys(LOADERS), ...registered.keys()];

/** The backends, with their devices not yet looked for. */
export const backends = (): Promise<Backend[]> => Promise.all(backendNames().map((name) => loaderOf(name)!()));

/**
 * Opens a device: `open("wasm")`, `open("cuda:1")`. A name without a number means the first one.
 * Throws DeviceError with the reason and a remedy; nothing is put in its place.
 */
export async function open(name: string, options: OpenOptions = {}): Promise<Device> {
  const m = /^([a-z][a-z-]*)(?::(\d+))?$/.exec(name);
  const load = m && loaderOf(m[1]);
  if (!load) throw unknown(name);
  requireOptions(`open("${name}", ...)`, options, ["f64", "deterministic", "checked", "print", "tune", "tuning", "threads"]);
  const backend = await load();
  if (options.threads !== undefined && !backend.threaded)
    throw new DeviceError(name, "it has no threads to set", "leave threads out, or open js, wasm or native");
  const index = Number(m[2] ?? 0);
  if (backend.single && index > 0) throw new DeviceError(name, `there is one ${m[1]} device`, `open it as "${m[1]}"`);
  const device = await backend.open(index, options);
  device.deterministic = options.deterministic ?? defaults.deterministic;
  device.checked = options.checked ?? defaults.checked ?? environment();
  device.print = options.print;
  device.tuning.measuring = options.tune ?? defaults.tune ?? false;
  device.tuning.use(options.tuning ?? defaults.tuning ?? {}, device);
  cover(device);
  return device;
}

/** ISOFORM_CHECKED=1 opens devices checked, 0 unchecked even in strict mode. */
function environment(): boolean | undefined {
  const value = globalThis.process?.env.ISOFORM_CHECKED;
  return value ? value !== "0" : undefined;
}

let defaults: Pick<OpenOptions, "tune" | "tuning" | "deterministic" | "checked"> = {};

/** How devices are opened without a word of it; the command line's `--tune`, `--tuning` and `--deterministic`. */
export function openByDefault(options: typeof defaults): void {
  defaults = options;
}

function unknown(name: string): DeviceError {
  if (name.startsWith(SPANNING))
    return new DeviceError(
      name,
      "this spans several processes, where one device is taken",
      `name one, such as "${name.slice(SPANNING.length) || "wasm"}"`,
    );
  const [first] = name.split(/[*,+]/);
  if (first !== name && first !== "")
    return new DeviceError(name, "this names several devices, and a single one is needed", `name one, such as "${first.trim()}"`);
  return new DeviceError(
    name,
    "there is no such device",
    `the backends are ${backendNames().join(", ")}; isoform doctor lists the devices of this machine`,
  );
}

/** The names of a backend's devices on this machine. Throws DeviceError with the reason and a remedy where there is none. */
export async function deviceNames(backend: string): Promise<string[]> {
  const load = loaderOf(backend);
  if (!load) throw unknown(backend);
  const { devices, missing } = await (await load()).probe();
  if (devices.length > 0) return devices.map(({ name }) => name);
  throw new DeviceError(backend, missing?.reason ?? "there is none on this machine", missing?.remedy ?? "isoform doctor lists the devices");
}

/** Devices that every backend finds on this machine. */
export async function doctor(): Promise<BackendReport[]> {
  return Promise.all((await backends()).map((b) => b.probe()));
}
