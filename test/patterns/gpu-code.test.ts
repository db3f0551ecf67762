import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Nvrtc } from "../../src/device/cuda/nvrtc.js";
import { compileKernel } from "../../src/kernel/compile.js";
import { firstPass, laterPass } from "../../src/patterns/fft/fft-kernels.js";
import { multiplySquares } from "../../src/patterns/gemm/gemm-kernels.js";
import { scanTilesByTeams } from "../../src/patterns/scan-by-teams.js";
import { TILE_SHAPE } from "../../src/patterns/scan-shape.js";
import {
  ROWS_OF_TEAM,
  multiplyRowsByLanes,
  multiplyRowsForAll,
  multiplyRowsOfBlocks,
  multiplySlices,
} from "../../src/patterns/sparse/product-kernels.js";
import { countDigits, findOffsets, moveKeys } from "../../src/patterns/sort-kernels.js";
import { cudaSource } from "../emit/sources.js";

const compiler = await Nvrtc.open().then(
  (nvrtc) => ({ nvrtc }),
  (error: Error) => ({ missing: error.message }),
);

describe("NVRTC compiles the CUDA code of", { skip: "missing" in compiler ? compiler.missing : false }, () => {
  const { nvrtc } = compiler as { nvrtc: Nvrtc };
  const compile = (kernel: ReturnType<typeof compileKernel>): string => {
    const source = cudaSource(kernel, "strict");
    assert.ok(nvrtc.compileToCubin(source, nvrtc.architectures.at(-1)!, { fast: false, name: kernel.ir.name }).length > 0);
    return source;
  };
  const modes = { carried: true, exclusive: true, keepsTotal: false, ...TILE_SHAPE };

  it("scans, with scratch memory for flags only where there are segments", () => {
    for (const type of ["f64", "i32"] as const)
      for (const onlyTotals of [false, true])
        for (const segmented of [false, true]) {
          const source = compile(compileKernel(scanTilesByTeams(type, "sum"), { ...modes, onlyTotals, segmented }));
          assert.equal(/__shared__ unsigned int begun/.test(source), segmented);
        }
  });

  it("Fourier transforms and products of matrices", () => {
    for (const type of ["f64", "f32"] as const) {
      for (const radix of [16, 7] as const)
        for (const kernel of [firstPass(type, radix), laterPass(type, radix)])
          compile(compileKernel(kernel, { radix, last: false, scaled: true }));
      for (const each of [2, 4, 8])
        compile(compileKernel(multiplySquares[type], { each, group: Math.min(each, 4), TILE_MEMBERS: 64, adds: true }));
    }
  });

  it("products of sparse matrices, rows by lanes of a warp", () => {
    for (const type of ["f64", "f32"] as const) {
      assert.match(compile(compileKernel(multiplyRowsByLanes[type], { adds: true, ROWS_OF_TEAM })), /__shfl/);
      compile(compileKernel(multiplySlices[type], { adds: false, height: 32 }));
      compile(compileKernel(multiplyRowsOfBlocks[type], { adds: false, side: 3 }));
      compile(compileKernel(multiplyRowsForAll[type], { adds: true }));
    }
  });

  it("sorts", () => {
    for (const some of [false, true]) {
      const shape = { bits: 4, members: 64, each: 15, some };
      for (const type of ["i32", "u32"] as const) {
        compile(compileKernel(countDigits[type], shape));
        compile(compileKernel(moveKeys[type], { ...shape, first: true, keep: true }));
      }
      compile(compileKernel(findOffsets, { some }));
    }
  });
});
