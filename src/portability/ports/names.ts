/** Targets of `isoform emit` whose files can be assessed. */
export const PORTS = ["c", "omp-target", "openacc", "stdpar", "kokkos", "sycl", "cuda", "hip"] as const;

/** An emitted file that can be assessed: one of `PORTS`. */
export type Port = (typeof PORTS)[number];

/** Ports whose files work on memory of the host. */
export type HostPort = Exclude<Port, "cuda" | "hip">;

const PREFIX = "emitted-";

/** The device whose launches are a port's files, as in `--devices`: `emitted-c`. */
export const portDevice = (port: Port): `emitted-${Port}` => `${PREFIX}${port}`;

/** The port of such a device; undefined for the name of another one. */
export const portOf = (device: string): Port | undefined => PORTS.find((port) => portDevice(port) === device);
