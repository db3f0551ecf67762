import { InvalidArgumentError, Option } from "commander";
import { count, countOrNone, nonNegative, number, positive } from "../../options.js";
import { camelCase, flagOf } from "./config.js";
import { choicesOf, defaultsOf, meaningOf, type CaseName, type Given, type Key } from "./config-keys.js";

/** The option of a key, `--re-tau <number>`; `configOf` has the defaults, since they depend on other keys. */
export function optionOf(key: Key, name: CaseName): Option {
  const flags = flagOf(key.name);
  const usual = defaultsOf(name, {})[camelCase(key.name) as keyof Given];
  const meaning = meaningOf(key, name) + (usual === undefined || key.kind.is === "flag" ? "" : ` (default: ${String(usual)})`);
  switch (key.kind.is) {
    case "flag":
      return new Option(flags, meaning);
    case "choice": {
      const of = choicesOf(key, name)!;
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
  if (!(Number.isInteger(value) && value >= from))
    throw new InvalidArgumentError(`It needs a whole number from ${from} to 9007199254740991.`);
  return value;
}

function unreachable(kind: never): never {
  throw new Error(`a key of kind ${JSON.stringify(kind)}`);
}
