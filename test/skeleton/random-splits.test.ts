import { it } from "node:test";
import { jsSet } from "../domain/sets.js";
import { share } from "../random/share.js";
import { agree } from "./random-splits.js";

it("random sequences on grids that are cut along y, and y and z, give the bits of the sequential run on one member", () =>
  agree(jsSet, { numRuns: share(12), seed: 1 }));
