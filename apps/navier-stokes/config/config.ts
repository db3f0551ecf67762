import { IsoformError } from "isoform";
import { requireSensible } from "./config-checks.js";
import { defaultsOf, KEYS, type CaseName, type Config, type Given, type Key, type Kind } from "./config-keys.js";

/*
 * Configurations from values that somebody has given. Pages use it.
 */

/** Turns a key into a name in programs: `reTau` for `re_tau`. */
export const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The name of a key of `Config` in files. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The option of a name in files or programs: `--re-tau` for `re_tau` and `reTau`. */
export const flagOf = (name: string): string => `--${snakeCase(name).replaceAll("_", "-")}`;

const isOf = (key: Key, name: CaseName): boolean => key.cases?.includes(name) ?? true;

/** The keys of a case. */
export const keysOf = (name: CaseName): readonly Key[] => KEYS.filter((key) => isOf(key, name));

/**
 * The configuration of a case: what is given, and the case's defaults for the rest.
 * @throws IsoformError for combinations that make no sense, with the remedy
 */
export function configOf(name: CaseName, given: Given = {}): Config {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Given;
  if (present.cfl && present.dt !== undefined)
    throw new IsoformError("navier-stokes: cfl and dt are both given: leave out one of them; dt is a fixed time step");
  const defaults = defaultsOf(name, present);
  const fixed = present.dt === undefined ? {} : { cfl: 0 };
  const config = { ...defaults, ...fixed, ...present, case: name } as Config;
  requireSensible(config, present);
  return config;
}

/** Values by the names of keys, checked, in camel case. `where` they stand is what errors begin with. */
export function givenOf(values: Readonly<Record<string, unknown>>, where: string, name: CaseName): Given {
  const given = Object.entries(values).map(([word, value]) => {
    const key = KEYS.find((each) => each.name === word);
    if (!key) throw new IsoformError(`${where}: ${unknownKey(word, name)}`);
    if (!isOf(key, name)) throw new IsoformError(`${where}: ${foreignKey(key, name)}`);
    const wanted = missOf(key.kind, value);
    if (wanted !== undefined) throw new IsoformError(`${where}: ${word} is ${shown(value)}: it needs ${wanted}`);
    return [camelCase(word), value] as const;
  });
  return Object.fromEntries(given) as Given;
}

const shown = (value: unknown): string =>
  typeof value === "object" ? "a table or a list" : typeof value === "string" ? `"${value}"` : String(value);

/** Says what a key needs where a value is not that. */
function missOf(kind: Kind, value: unknown): string | undefined {
  const isNumber = typeof value === "number" && Number.isFinite(value);
  switch (kind.is) {
    case "flag":
      return typeof value === "boolean" ? undefined : "true or false";
    case "choice":
      return kind.of.includes(value as string) ? undefined : `one of ${kind.of.join(", ")}`;
    case "count":
    case "whole":
      return Number.isSafeInteger(value) && (value as number) >= kind.from ? undefined : `a whole number from ${kind.from} on`;
    case "positive":
      return isNumber && value > 0 ? undefined : "a number greater than 0";
    case "nonNegative":
      return isNumber && value >= 0 ? undefined : "a number from 0 on";
    case "number":
      return isNumber ? undefined : "a number";
    default:
      return unreachable(kind);
  }
}

function unknownKey(word: string, name: CaseName): string {
  const names = keysOf(name).map((key) => key.name);
  const plain = word.toLowerCase().replaceAll("-", "_");
  const [nearest] = names.map((each) => ({ each, edits: distance(plain, each) })).sort((a, b) => a.edits - b.edits);
  const hint = nearest.edits <= Math.max(1, word.length / 3) ? `did you mean ${nearest.each}?` : `${name} has ${names.join(" ")}`;
  return `unknown key ${word}: ${hint}`;
}

const foreignKey = ({ name: word, cases }: Key, name: CaseName): string =>
  `${word} is a key of ${cases!.join(", ")}, and this is a ${name}: leave it out${word === "re_tau" ? "; a flow without walls takes re" : ""}`;

/** Letters to change, add or leave out. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

function unreachable(kind: never): never {
  throw new Error(`a key of kind ${JSON.stringify(kind)}`);
}
