import { describe, it } from "node:test";
import { devices } from "isoform/set";
import { oneDevice } from "../../devices.js";
import { followsLines, linesOf } from "./golden-runs.js";

const set = await devices(oneDevice("wasm"));

describe("channels without shocks follow the original solver in every digit", () => {
  for (const golden of linesOf("A")) it(golden.name, () => followsLines(set, golden));
});
