export type { Pattern, PatternOptions } from "./pattern.js";
export { scan, type Scan, type ScanOp, type Segments } from "./scan.js";
export { sortByKey, type SortByKey } from "./sort.js";
export { argsort, type Argsort } from "./argsort.js";
export { reduceByKey, unique, type ReduceByKey, type Unique } from "./runs.js";
export { cellList, type CellList, type CellListOptions } from "./cell-list.js";
export { cellListParams, cellListParams32, cellListIn, type CellNeighbours } from "./cells-in.js";
export { permute, type Permute } from "./permute.js";
export { normalPair, normalPair32, philox, uniform, uniform32 } from "./philox.js";
export { random, stream, type RandomStream } from "./stream.js";
export { fourier, inverseFourier, powerSpectrum, realFourier, type ComplexArrays } from "./fourier.js";
export { fft, type ComplexViews, type Fft } from "./fft/fft.js";
export { tridiagonal, type Tridiagonal } from "./tridiagonal.js";
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
