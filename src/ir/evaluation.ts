/** The meaning of operators on values: `evaluate.binary("add", "f64", 1, 2)`. */
export {
  evaluateBinary as binary,
  evaluateCall as call,
  evaluateCast as cast,
  evaluateComparison as compare,
  evaluateUnary as unary,
  isFloat,
  wrap,
  type PlainValue as Value,
} from "./evaluate.js";
