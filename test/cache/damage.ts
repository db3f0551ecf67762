import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Whole numbers below a bound, the same ones for the same seed. */
export function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Pick = (below: number) => number;

/** Exchanges two files. */
function swap(one: string, other: string): void {
  renameSync(one, `${one}.swap`);
  renameSync(other, one);
  renameSync(`${one}.swap`, other);
}

function flip(file: string, pick: Pick): void {
  const data = readFileSync(file);
  if (data.length > 0) data[pick(data.length)] ^= 1 << pick(8);
  writeFileSync(file, data);
}

/** Ways to damage a kept file, of which there is another of the same kind. */
const DAMAGE: Readonly<Record<string, (file: string, other: string, pick: Pick) => void>> = {
  "a bit": (file, _, pick) => flip(file, pick),
  "a bit of the digest": (file, _, pick) => flip(`${file}.sha256`, pick),
  "the end": (file, _, pick) => truncateSync(file, pick(readFileSync(file).length)),
  "all of it": (file) => truncateSync(file, 0),
  "all of the digest": (file) => truncateSync(`${file}.sha256`, 0),
  "no digest": (file) => rmSync(`${file}.sha256`),
  "a digest of another": (file, other) => copyFileSync(`${other}.sha256`, `${file}.sha256`),
  "another file": (file, other) => swap(file, other),
  "another file with its digest": (file, other) => {
    swap(file, other);
    swap(`${file}.sha256`, `${other}.sha256`);
  },
  "more than was written": (file, _, pick) => appendFileSync(file, Buffer.alloc(1 + pick(5000), pick(256))),
  "a folder": (file) => {
    rmSync(file);
    mkdirSync(join(file, "inside"), { recursive: true });
  },
  "a folder for a digest": (file) => {
    rmSync(`${file}.sha256`);
    mkdirSync(`${file}.sha256`);
  },
  "a link to another": (file, other) => {
    rmSync(file);
    symlinkSync(other, file);
  },
  "a link to nothing": (file) => {
    rmSync(file);
    symlinkSync(`${file}.none`, file);
  },
  "a page": (file, _, pick) => {
    const data = readFileSync(file);
    const page = 4096 * pick(Math.ceil(data.length / 4096));
    writeFileSync(file, data.fill(0x5a, page, Math.min(data.length, page + 4096)));
  },
  text: (file) => writeFileSync(file, "{"),
};

export const DAMAGES = Object.keys(DAMAGE);

/** Damages one of the files that a cache keeps; tells which, and how. */
export function damage(folder: string, trial: number, pick: Pick): string {
  const files = readdirSync(folder).filter((name) => /^[0-9a-f]{40}\.[^.]+$/.test(name));
  const n = pick(files.length);
  const way = DAMAGES[trial % DAMAGES.length];
  DAMAGE[way](join(folder, files[n]), join(folder, files[(n + 1) % files.length]), pick);
  return `${way} in ${files[n]}`;
}
