export type { Pattern, PatternOptions } from "./pattern.js";
export { scan, type Scan, type ScanOp, type Segments } from "./scan.js";
export { sortByKey, type SortByKey } from "./sort.js";
export { permute, type Permute } from "./permute.js";
export { normalPair, normalPair32, philox, random, uniform, uniform32 } from "./philox.js";
export { fourier, inverseFourier, powerSpectrum, realFourier, type ComplexArrays } from "./fourier.js";
export { fft, type ComplexViews, type Fft } from "./fft/fft.js";
export { gemm, type Gemm } from "./gemm/gemm.js";
export { sobol, SOBOL_DIRECTIONS } from "./sobol.js";
export {
  sparseMatrix,
  type SparseElements,
  type SparseFormat,
  type SparseMatrix,
  type SparseProduct,
  type TriangleSolve,
} from "./sparse/sparse-matrix.js";
export type { CompressedRows, SparseType } from "./sparse/rows.js";
export { solver, type Solved, type KrylovSolver, type SolverMethod, type LinearSystem } from "./krylov/solver.js";
export type { LinearFunction, LinearWork } from "./krylov/steps.js";
export type { PreconditionerName } from "./krylov/preconditioners.js";
