export { blocks, type BlocksGrid, type BlocksOptions } from "./bricks/bricks.js";
export { dense, DenseGrid } from "./dense/dense.js";
export { Field, type CellFunction, type FieldLayout, type FieldOptions, type FieldToken, type FieldType } from "./grid/field.js";
export { GRID_KINDS } from "./grid/grid.js";
export type {
  DataView,
  DenseOptions,
  Grid,
  GridKind,
  GridOptions,
  HaloCopy,
  LevelOptions,
  Offset,
  Partition,
  PrepareOptions,
} from "./grid/grid.js";
export type { Cell, Components, Dimension, FieldAccess } from "../kernel/cells.js";
export type { Container, ContainerBody, ContainerParams, FieldUse } from "./container/container.js";
export { makeGrid, type AnyGridOptions } from "./make-grid.js";
export { sparse, SparseGrid } from "./sparse/sparse.js";
export { collect, type Collection } from "./container/reductions.js";
export { axpy, copy, dot, fill, norm1, norm2, normMax, scale, type Factor } from "./container/vectors.js";
