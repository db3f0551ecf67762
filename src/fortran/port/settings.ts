/* Settings of a port in a configuration file. */

import { IsoformError } from "../../base/errors.js";
import type { NestSettings } from "./nests.js";
import { FORTRAN_TARGETS, PORT_TARGETS, type PortTarget } from "./targets.js";

/** Types that a kind may stand for in kernels. */
export const PORT_KINDS = ["f64", "f32", "i32"] as const;
export type PortKind = (typeof PORT_KINDS)[number];

/** Settings of a port in a configuration file. */
export interface Settings {
  /** Files that are read along, for the procedures that they hold. */
  readonly hosts: readonly string[];
  /** Names that the preprocessor finds defined. */
  readonly define: Readonly<Record<string, string | boolean>>;
  /** Kinds by name, for kernels, where their module is not given or another precision is wanted. */
  readonly kinds: Readonly<Record<string, PortKind>>;
  /** By target: ends of names and what they become. */
  readonly rename: Partial<Record<PortTarget, Readonly<Record<string, string>>>>;
  /** By loop, then by target or, for all targets, `""`. */
  readonly loops: ReadonlyMap<string, ReadonlyMap<PortTarget | "", NestSettings>>;
}

export const NO_SETTINGS: Settings = { hosts: [], define: {}, kinds: {}, rename: {}, loops: new Map() };

type Table = Record<string, unknown>;

/**
 * The settings in the values of a TOML file; `file` is its name in messages.
 * @throws IsoformError that tells all that is wrong
 */
export function settingsOf(values: Table, file: string): Settings {
  const problems: string[] = [];
  const refuse = (where: string, what: string): undefined => void problems.push(`${file}: [${where}] ${what}`);
  const keys = (table: Table, where: string, known: readonly string[]): void => {
    for (const key of Object.keys(table)) if (!known.includes(key)) refuse(where, `has no key "${key}"; its keys are ${known.join(", ")}`);
  };
  const table = (value: unknown, where: string, what: string): Table => {
    if (value === undefined) return {};
    if (typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)) return value as Table;
    return refuse(where, `takes a table, ${what}`) ?? {};
  };
  const names = (value: unknown, where: string): readonly string[] => {
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value;
    return refuse(where, "takes a list of names in quotes") ?? [];
  };
  const words = (value: unknown, where: string): Record<string, string> => {
    const found = table(value, where, 'such as { _gpu = "_cpu" }');
    for (const [key, each] of Object.entries(found)) if (typeof each !== "string") refuse(where, `takes a string in quotes for "${key}"`);
    return found as Record<string, string>;
  };
  const nest = (found: Table, where: string): NestSettings => {
    const { idx, num_loop: count } = found;
    if (count !== undefined && !(typeof count === "number" && Number.isInteger(count) && count > 0))
      refuse(where, "takes a whole number above 0 for num_loop");
    const lower = names(idx, `${where}.idx`).map((name) => name.toLowerCase());
    return { ...(idx !== undefined && { idx: lower }), ...(count !== undefined && { num_loop: Number(count) }) };
  };

  const { port: general, ...routines } = values;
  const own = table(general, "port", "such as [port]");
  keys(own, "port", ["hosts", "define", "kinds", "rename"]);
  const rename = table(own["rename"], "port.rename", "a line for each target");
  keys(rename, "port.rename", PORT_TARGETS);
  const renames = PORT_TARGETS.filter((target) => Object.hasOwn(rename, target)).map((target) => [
    target,
    words(rename[target], `port.rename.${target}`),
  ]);
  const define = table(own["define"], "port.define", 'such as { USE_MPI = "1" }');
  for (const [name, value] of Object.entries(define))
    if (typeof value !== "string" && typeof value !== "boolean")
      refuse("port.define", `takes a string in quotes, true or false for "${name}"`);
  const kinds = words(own["kinds"], "port.kinds");
  for (const [name, kind] of Object.entries(kinds))
    if (!PORT_KINDS.includes(kind as PortKind)) refuse("port.kinds", `takes ${PORT_KINDS.join(", ")} for "${name}"`);
  const loops = new Map<string, Map<PortTarget | "", NestSettings>>();
  for (const [name, value] of Object.entries(routines)) {
    const found = table(value, name, "such as num_loop = 3 below its name");
    keys(found, name, ["idx", "num_loop", ...PORT_TARGETS]);
    const { idx, num_loop } = found;
    const made = new Map<PortTarget | "", NestSettings>([["", nest({ idx, num_loop }, name)]]);
    for (const target of PORT_TARGETS) {
      if (!Object.hasOwn(found, target)) continue;
      const where = `${name}.${target}`;
      const inner = table(found[target], where, "such as num_loop = 3 below its name");
      keys(inner, where, (FORTRAN_TARGETS as readonly string[]).includes(target) ? ["idx", "num_loop"] : ["idx"]);
      made.set(target, nest(inner, where));
    }
    loops.set(name.toLowerCase(), made);
  }
  const hosts = names(own["hosts"], "port.hosts");
  if (problems.length > 0) throw new IsoformError(problems.join("\n"));
  return {
    hosts,
    define: define as Settings["define"],
    kinds: kinds as Settings["kinds"],
    rename: Object.fromEntries(renames) as Settings["rename"],
    loops,
  };
}

/** Settings of a loop for a target: the target's own settings win. */
export const nestSettings = ({ loops }: Settings, name: string, target: PortTarget): NestSettings => ({
  ...loops.get(name)?.get(""),
  ...loops.get(name)?.get(target),
});
