import { readFile } from "node:fs/promises";
import { InvalidArgumentError, Option } from "commander";
import { IsoformError } from "isoform";
import { count, countOrNone, nonNegative, number, positive } from "../options.js";
import { requireSensible } from "./config-checks.js";
import { CASES, defaultsOf, KEYS, type CaseName, type Config, type Given, type Key, type Kind } from "./config-keys.js";

/*
 * Configurations from TOML files and from options.
 */

/** Of a key: `reTau` of `re_tau`. */
export const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const isOf = (key: Key, name: CaseName): boolean => key.cases?.includes(name) ?? true;

/** The keys of a case. */
export const keysOf = (name: CaseName): readonly Key[] => KEYS.filter((key) => isOf(key, name));

/** The option of a key, `--re-tau <number>`; defaults are those of `configOf`, since they depend on other keys. */
export function optionOf(key: Key, name: CaseName): Option {
  const flags = `--${key.name.replaceAll("_", "-")}`;
  const usual = defaultsOf(name, {})[camelCase(key.name) as keyof Given];
  const meaning = usual === undefined ? key.meaning : `${key.meaning} (default: ${String(usual)})`;
  switch (key.kind.is) {
    case "flag":
      return new Option(flags, meaning);
    case "choice": {
      const { of } = key.kind;
      return new Option(`${flags} <choice>`, `${meaning} (choices: ${of.join(", ")})`).argParser((text) => chosen(of, text));
    }
    case "count":
      return new Option(`${flags} <n>`, meaning).argParser(count);
    case "whole": {
      const { from } = key.kind;
      return new Option(`${flags} <n>`, meaning).argParser((text) => (from < 0 ? wholeFrom(from, number(text)) : countOrNone(text)));
    }
    case "positive":
      return new Option(`${flags} <number>`, meaning).argParser(positive);
    case "nonNegative":
      return new Option(`${flags} <number>`, meaning).argParser(nonNegative);
    case "number":
      return new Option(`${flags} <number>`, meaning).argParser(number);
    default:
      return unreachable(key.kind);
  }
}

function chosen(of: readonly (string | number)[], text: string): string | number {
  const found = of.find((value) => String(value) === text);
  if (found === undefined) throw new InvalidArgumentError(`Allowed choices are ${of.join(", ")}.`);
  return found;
}

function wholeFrom(from: number, value: number): number {
  if (!(Number.isInteger(value) && value >= from)) throw new InvalidArgumentError(`It needs a whole number from ${from} on.`);
  return value;
}

/**
 * The configuration of a case: `given` in camel case, with defaults for the rest.
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

/**
 * The values of a TOML file, in camel case. It may name its case, as `case = "channel"`.
 * @throws IsoformError with the file, for what cannot be read, unknown keys, and values of another kind
 */
export async function readConfig(file: string, name: CaseName): Promise<Given> {
  let text = "";
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new IsoformError(`cannot read ${file}: ${(error as Error).message.split(",")[0]}`);
  }
  return parseConfig(text, file, name);
}

/** As `readConfig`, of the text of a file. */
export async function parseConfig(text: string, file: string, name: CaseName): Promise<Given> {
  const { parse } = await import("smol-toml");
  let found: Record<string, unknown> = {};
  try {
    found = parse(text);
  } catch (error) {
    throw new IsoformError(`${file}: ${(error as Error).message.trim()}`);
  }
  const { case: own, ...values } = found;
  if (own !== undefined && own !== name) {
    const known = (CASES as readonly unknown[]).includes(own);
    throw new IsoformError(
      `${file} is of the case ${String(own)}: ${known ? `run isoform navier-stokes ${String(own)}` : `there are ${CASES.join(", ")}`}`,
    );
  }
  return givenOf(values, file, name);
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

/** What a value is not that it should be. */
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
  return `there is no key ${word}: ${hint}`;
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
