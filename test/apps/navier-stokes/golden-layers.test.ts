import { describe, it } from "node:test";
import { devices } from "isoform/set";
import { oneDevice } from "../../devices.js";
import { followsLines, linesOf } from "./golden-runs.js";

const set = await devices(oneDevice("wasm"));

describe("boundary layers follow the original solver", () => {
  for (const golden of [...linesOf("C"), ...linesOf("D"), ...linesOf("E")]) it(golden.name, () => followsLines(set, golden));
});
