export { blocks, BlocksGrid, type BlocksOptions } from "./blocks.js";
export { dense, DenseGrid, type DenseOptions } from "./dense.js";
export { Field, type CellFunction, type FieldLayout, type FieldOptions, type FieldToken, type FieldType } from "./field.js";
export type { DataView, Grid, GridOptions, HaloCopy, Offset, Partition, PrepareOptions } from "./grid.js";
export type { Cell, Components, Dimension, FieldAccess } from "../kernel/cells.js";
export type { Container, ContainerBody, ContainerParams, FieldUse } from "./container.js";
export { sparse, SparseGrid } from "./sparse.js";
export { collect, type Collection } from "./reductions.js";
