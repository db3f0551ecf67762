import { createHash, type Hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deserialize, serialize } from "node:v8";
import { recall, remember } from "./cache.js";
import { canonicalText } from "./canonical.js";

/** Folders of the library whose functions are memoised. Results depend on their code: another version finds none. */
const FOLDERS = ["base", "ir", "schedule", "kernel", "emit", "domain", "skeleton"];

/** Length of an input's text up to which working on it takes less time than a file. */
const SHORT = 20_000;

/** Results from short input that are held in this process although nobody else has them: there are no files of these. */
const HELD = 256;

/** Results found or made in this process, as long as somebody has them. */
const known = new Map<string, WeakRef<object>>();
const gone = new FinalizationRegistry<string>((name) => known.get(name)?.deref() === undefined && known.delete(name));

/** Prefixes of results' names in inputs: of long inputs, whose results are kept in files, and of short ones. */
const MARKS = { long: "result of ", short: "quick result of " };
/** Results, and the objects in them, by what stands for them in inputs. */
const names = new WeakMap<object, string>();

/** Short form of data in an input, preferred to the data itself: the name of the memoised result that it is, or is a part of. */
export const named = (data: object): unknown => names.get(data) ?? data;

/**
 * Result of `make`, now or earlier for an equal input: in any process where the input is long, else in this one. Nobody may change it.
 *
 * @param kind ending of its files' names
 * @param input all that the result depends on, the library's own code aside; like the result, plain data (see `canonicalText`)
 */
export function memoised<Result extends object>(kind: string, input: unknown, make: () => Result): Result {
  const key = keyOf(kind, input);
  if (key === undefined) return make();
  const found = known.get(key.name)?.deref() ?? stored(key);
  if (found) {
    hold(key, found);
    return found as Result;
  }
  const made = make();
  keep(key, made);
  if (key.parts) attempt(() => remember(kind, key.parts!, serialize(made)));
  return made;
}

interface Key {
  readonly kind: string;
  /** Name of the result in this process. */
  readonly name: string;
  /** All that the result depends on, where it is kept in a file. */
  readonly parts: readonly string[] | undefined;
}

function keyOf(kind: string, input: unknown): Key | undefined {
  const text = attempt(() => canonicalText(input));
  if (text === undefined) return undefined;
  const digest = createHash("sha256").update(text).digest("hex");
  const isLong = text.length > SHORT || text.includes(`"${MARKS.long}`);
  const code = isLong ? (codeDigest ??= digestOfCode()) : undefined;
  const parts = code === undefined ? undefined : [process.versions.v8, code, digest];
  return { kind, name: `${kind} ${digest}`, parts };
}

function stored(key: Key): object | undefined {
  const { kind, parts } = key;
  if (!parts) return undefined;
  const found = attempt(() => {
    const data = recall(kind, parts);
    return data && (deserialize(data) as object);
  });
  if (found) keep(key, found);
  return found;
}

function keep(key: Key, result: object): void {
  known.set(key.name, new WeakRef(result));
  gone.register(result, key.name);
  hold(key, result);
  const name = `${key.parts ? MARKS.long : MARKS.short}${key.name}`;
  names.set(result, name);
  for (const [part, value] of Object.entries(result))
    if (typeof value === "object" && value !== null) names.set(value as object, `${name}, ${part}`);
}

/** The `HELD` results that were asked for last, in this order. */
const held = new Map<string, object>();

function hold({ name, parts }: Key, result: object): void {
  if (parts) return;
  held.delete(name);
  held.set(name, result);
  const [oldest] = held.keys();
  if (held.size > HELD) held.delete(oldest);
}

/** Memory of results is no more than a help: deep trees, damaged files and folders of other users cost time. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

let codeDigest: string | undefined;

/** Digest of the code in `FOLDERS`; undefined if it is not in files of its own, as in a bundle. */
function digestOfCode(): string | undefined {
  if (!/\/src\/cache\/memoise\.[jt]s$/.test(import.meta.url)) return undefined;
  return attempt(() => {
    const hash = createHash("sha256");
    for (const folder of FOLDERS) addFolder(hash, fileURLToPath(new URL(`../${folder}/`, import.meta.url)));
    return hash.digest("hex");
  });
}

function addFolder(hash: Hash, folder: string): void {
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort())
    if (/(?<!\.d)\.[jt]s$/.test(file)) hash.update(`${file}:`).update(readFileSync(`${folder}/${file}`));
}
