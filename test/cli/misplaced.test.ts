import assert from "node:assert/strict";
import { test } from "node:test";
import { isoform } from "./isoform.js";

/* Words where they do not belong: the message says where they do. */

const REFUSED: readonly (readonly [words: string, message: RegExp])[] = [
  [
    "lbm --devices wasm",
    /^error: --devices comes after a case of lbm: isoform lbm cavity --devices \.\.\.; the cases are cavity, cylinder, sphere, vortex$/m,
  ],
  ["lbm --nonsense 1", /^error: unknown option '--nonsense'/m],
  ["cache --help", /^error: unknown command 'cache'/m],
  ["--tuning a.toml -h gsrr", /^error: unknown command 'gsrr'\n\(Did you mean gsr\?\)/m],
  ["help lmb", /^error: unknown command 'lmb'\n\(Did you mean lbm\?\)/m],
  ["lbm cavty --help", /^error: unknown command 'cavty'\n\(Did you mean cavity\?\)/m],
  ["heat --size -3", /argument '-3' is invalid\. It needs a whole number from 1 to 9007199254740991\./],
  ["emit poisson --target c --size -3", /argument '-3' is invalid\. It needs a whole number from 1 to 9007199254740991\./],
  ["explain poisson --iterations -1", /argument '-1' is invalid\. It needs a whole number from 0 to 9007199254740991\./],
  ["stream --devices js,wasm", /device "js,wasm": this names several devices, and a single one is needed \(name one, such as "js"\)/],
];

for (const [words, message] of REFUSED)
  test(`isoform ${words}`, () => {
    const { status, stderr } = isoform(words.split(" "));
    assert.match(stderr, message);
    assert.equal(status, 2);
  });

for (const words of ["lbm --help", "help lbm", "lbm help cavity", "lbm cavity -h", "--help"])
  test(`isoform ${words} is help`, () => {
    const { status, stdout } = isoform(words.split(" "));
    assert.match(stdout, /^Usage: isoform /);
    assert.equal(status, 0);
  });
