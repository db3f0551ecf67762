import { it } from "node:test";
import { devices } from "isoform/set";
import { followsLines, linesOf } from "./golden-runs.js";

const set = await devices("wasm");

it("a channel's first step is that of the original solver", () => followsLines(set, linesOf("A")[0], 1));
