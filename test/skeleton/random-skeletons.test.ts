import { it } from "node:test";
import { devices } from "../../src/set/index.js";
import { ELSEWHERE, NOT_ASKED, tested } from "../devices.js";
import { jsSet, jsSets } from "../domain/sets.js";
import { share } from "../random/share.js";
import { agree } from "./random-sequences.js";

it(
  "random sequences give the bits of the sequential run on any number of members, grid and OCC level, fused and unrolled or not",
  { skip: ELSEWHERE },
  () => agree(jsSet(1), jsSets, { numRuns: share(30), ways: 5 }),
);

it("and so do some on members of an OpenCL device", { skip: !tested("opencl") && NOT_ASKED }, async (t) => {
  const opened = await devices("opencl*3").catch((error: Error) => error.message);
  if (typeof opened === "string") return t.skip(opened);
  await agree(jsSet(1), [opened], { numRuns: 3, ways: 2 });
  await opened.close();
});
