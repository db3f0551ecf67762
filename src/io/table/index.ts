export { readEcsv, writeEcsv, type EcsvOptions, type TableOptions } from "./ecsv.js";
export { readFits, writeFits, type FitsOptions } from "./fits.js";
export { writeVotable } from "./votable.js";
export { readVotable } from "./votable-read.js";
export { readParquet, writeParquet, type ParquetOptions } from "./parquet.js";
export { readTable, tableFormatOf, writeTables, TABLE_ENDINGS, type TableFormat } from "./any.js";
export {
  columnOf,
  numbersOf,
  rowsOf,
  type Column,
  type ColumnType,
  type ColumnValues,
  type Metadata,
  type Table,
  type TableRead,
} from "./table.js";
