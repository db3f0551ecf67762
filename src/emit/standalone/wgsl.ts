import { EmitError } from "../../base/errors.js";
import { beyondPairs } from "../../ir/analysis/wide-division.js";
import { isWide } from "../../ir/scalars.js";
import { foldsJointly } from "../../ir/joint.js";
import { orderMatters } from "../../ir/identity.js";
import { emitWgsl } from "../wgsl/kernel.js";
import { groupsApart, representationOf, TEMPORARY, WORKGROUP, type ScatterCode, type WgslProgram } from "../wgsl/shader-program.js";
import { refuseF64 } from "./refuse-f64.js";
import type { EmitRequest, EmittedFile } from "./request.js";
import { placeText, writeWgslHost, type Shader } from "./wgsl-host.js";

/** WGSL, one file for each shader, and a host in JavaScript. Throws EmitError for f64, which WGSL lacks. */
export function emitWgslFiles(request: EmitRequest): EmittedFile[] {
  const { ir, access, stem, precision, unitStrides } = request;
  refuseF64(ir, "wgsl", "WGSL");
  const pairs = beyondPairs(ir);
  if (pairs) throw new EmitError(ir.name, "wgsl", `${pairs.what} (line ${pairs.line}), which WGSL lacks`, "use u32, or another target");
  const target = ir.params.find((param) => param.kind === "scatter" && isWide(param.element));
  if (target)
    throw new EmitError(
      ir.name,
      "wgsl",
      `its scatter target "${target.name}" holds 64-bit integers, which WGSL has no atomics for`,
      "use u32, or another target",
    );
  const arrays = ir.params.filter((p) => p.kind === "view" || p.kind === "scatter");
  const strict = precision === "strict";
  const scatters = arrays.filter((p) => p.kind === "scatter");
  const code: ScatterCode = strict && scatters.some(orderMatters) ? "serial" : "atomic";
  const program = emitWgsl(ir, access, {
    strict,
    sizes: "small",
    inChunks: strict || foldsJointly(ir),
    unitStrides,
    groups: groupsApart(arrays.map(({ name }) => name)),
    representations: [
      ...arrays.map((p) => representationOf(ir, p, p.kind === "scatter" && code === "atomic", access.views[p.name]?.written === true)),
      "words",
    ],
    atStart: Object.fromEntries(arrays.map(({ name }) => [name, true])),
    partials: false,
    scatter: Object.fromEntries(scatters.map(({ name }) => [name, code])),
    copies: {},
    members: ir.policy.kind === "team" && code === "serial" && scatters.length > 0 ? 1 : WORKGROUP,
  });
  const shaders = shadersOf(stem, program);
  return [
    ...shaders.map(({ file, entry }) => ({ name: file, text: entry.source })),
    {
      name: `${stem}.host.mjs`,
      text: writeWgslHost(request, program, shaders, [...arrays.map(({ name }) => placeText(name)), TEMPORARY.kind]),
    },
  ];
}

function shadersOf(stem: string, { main, fold, finish }: WgslProgram): Shader[] {
  const shaders: Shader[] = [{ key: "main", file: `${stem}.wgsl`, entry: main }];
  if (fold) shaders.push({ key: "fold", file: `${stem}.fold.wgsl`, entry: fold });
  if (finish) shaders.push({ key: "finish", file: `${stem}.finish.wgsl`, entry: finish });
  return shaders;
}
