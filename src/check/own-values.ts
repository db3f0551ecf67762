import * as builtins from "../kernel/declare/builtins.js";
import * as captures from "../kernel/declare/captures.js";
import { complex, complexf } from "../kernel/declare/complex.js";
import { mat2, mat2f, mat3, mat3f, mat4, mat4f } from "../kernel/declare/matrices.js";
import * as params from "../kernel/declare/params.js";
import { array } from "../kernel/declare/private-arrays.js";
import { quat, quatf } from "../kernel/declare/quaternions.js";
import { struct } from "../kernel/declare/struct.js";
import * as vectors from "../kernel/declare/vectors.js";
import { list } from "../device/launch/list-param.js";
import { cellListParams, cellListParams32, cellListIn } from "../patterns/cells-in.js";
import { normalPair, normalPair32, philox, uniform, uniform32 } from "../patterns/philox.js";
import { sobol, SOBOL_DIRECTIONS } from "../patterns/sobol.js";
import { random, stream } from "../patterns/stream.js";
import { face, slab } from "../domain/grid/region.js";

const numbers = { complex, complexf, mat2, mat2f, mat3, mat3f, mat4, mat4f, quat, quatf, array, struct, face, slab };
const lists = { list, cellListParams, cellListParams32, cellListIn };
const draws = { normalPair, normalPair32, philox, random, uniform, uniform32, stream, sobol, SOBOL_DIRECTIONS };

/** Isoform's own names that declarations use: they compute nothing but tokens and values. */
const OWN: Readonly<Record<string, unknown>> = {
  ...builtins,
  ...captures,
  ...params,
  ...vectors,
  ...numbers,
  ...lists,
  ...draws,
};

/** The value that the library exports under a name, for parts of declarations; undefined for all else. */
export const ownValue = (name: string): unknown => (Object.hasOwn(OWN, name) ? OWN[name] : undefined);
