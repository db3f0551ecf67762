import { LIBRARY, type Dialect } from "./dialect.js";

const NAMES =
  "exp expm1 exp2 log log1p log2 log10 pow sin cos tan asin acos atan atan2 sinh cosh tanh cbrt hypot sqrt floor ceil trunc fabs fmod abs div " +
  "j0 j1 jn y0 y1 yn gamma signgam NAN INFINITY int8_t uint8_t int32_t uint32_t int64_t uint64_t uintptr_t NULL unix linux i386";

/** C11 for gcc and clang, compiled with -fwrapv. */
export const openmpDialect: Dialect = {
  name: "C",
  types: { f64: "double", f32: "float", i32: "int32_t", u32: "uint32_t", bool: "bool", u8: "uint8_t", index: "int64_t" },
  helperPrefix: "static inline",
  tablePrefix: "static const",
  reserved: NAMES.split(" ").flatMap((name) => [name, `${name}f`]),
  signedWraps: true,
  infinity: "INFINITY",
  nan: "NAN",
  math: (fn, type) => (type === "f32" ? `${LIBRARY[fn]}f` : LIBRARY[fn]),
  helpers: {},
};
