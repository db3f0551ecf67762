import { openmpDialect } from "../c/openmp-dialect.js";
import type { Dialect } from "../c/dialect.js";

/** C++ whose compilers are not told that signed integers wrap, with the names of C's library. Compilers for devices do not know GCC's atomic operations. */
export const cppDialect: Dialect = { ...openmpDialect, name: "C++", tablePrefix: "static constexpr", signedWraps: false, fetch: undefined };
