/** A change that no test can notice, with the reason. */
export interface Equivalent {
  /** The compiled module, from the root of the repository. */
  readonly module: string;
  /** Part of the line that it stands on. */
  readonly line: string;
  /** The change, as it is told. */
  readonly what: RegExp;
  /** Why the result is the same for every input, or why speed alone can differ. */
  readonly why: string;
}

/** Changes shown to be equivalent. An entry whose line is gone is out of date: a test says so. */
export const EQUIVALENT: readonly Equivalent[] = [
  {
    module: "dist/src/ir/analysis/intervals.js",
    line: "ah > 0 ? Math.min(most, ah) : 0",
    what: /^">" becomes ">=" in ah > 0/,
    why: "most is at least 0, so that for 0 the least of the two is 0 as well",
  },
  {
    module: "dist/src/fortran/analyse/thread-index.js",
    line: 'op: sign > 0 ? "+" : "-"',
    what: /^">" becomes ">=" in sign > 0/,
    why: "a sign is 1 or -1",
  },
  {
    module: "dist/src/ir/simplify.js",
    line: "return n < 0 ? simplify(",
    what: /^"<" becomes "<=" in n < 0/,
    why: "0 has returned before",
  },
  {
    module: "dist/src/skeleton/fusion/group.js",
    line: "offsets.length * sizeOf(container.ir.body) > MAX_REPEATED",
    what: /^">" becomes ">=" in offsets/,
    why: "speed alone: whether containers of just this size are fused",
  },
  {
    module: "dist/src/kernel/lower/loops.js",
    line: "step > 0 ? ",
    what: /^">" becomes ">=" in step > 0/,
    why: "no step is 0",
  },
  {
    module: "dist/src/kernel/lower/loops.js",
    line: "if (before.length === 0 && cond.stmts.length === 0)",
    what: /^"===" becomes "!==" in before.length === 0/,
    why: "all tests are made in the body then, which means the same; a test before that changes something has statements",
  },
  {
    module: "dist/src/domain/particles/migration.js",
    line: "filter((other) => other < member).length * exchange",
    what: /^"<" becomes "<=" in other < member/,
    why: "no member is its own neighbour",
  },
  {
    module: "dist/src/domain/particles/kernels.js",
    line: "periodic === 0 || (at >= 0 && at < length)",
    what: /^">=" becomes ">"/,
    why: "0 is brought back to 0",
  },
  {
    module: "dist/src/domain/container/runs.js",
    line: ".reduce((sum, { generation }) => sum + generation, 0)",
    what: /^0 becomes 1/,
    why: "the sums are compared with one another alone",
  },
  {
    module: "dist/src/ir/analysis/launch-races.js",
    line: "1000 + step * given.size",
    what: /^"\+" becomes "-"/,
    why: "both signs of the step are tried",
  },
  {
    module: "dist/src/domain/grid/grid.js",
    line: "this.freed = false;",
    what: /^this\.freed = false; is left out/,
    why: "undefined is as false",
  },
  {
    module: "dist/src/emit/standalone/js.js",
    line: 'const rank = request.ir.policy.kind === "range" ? request.ir.policy.rank : 1;',
    what: /^1 becomes 2/,
    why: "teams have a way of their own",
  },
  {
    module: "dist/src/fortran/lower/intrinsics.js",
    line: 'select(compare("lt", count, int(0)), right(',
    what: /^(0 becomes 1|"<" becomes)/,
    why: "a shift by 0 is the same to either side",
  },
  {
    module: "dist/src/io/whole-file.js",
    line: "basename(path).slice(0, 40)",
    what: /^40 becomes 41/,
    why: "names of temporary files fit either way",
  },
  {
    module: "dist/src/io/state-file.js",
    line: "littleEndian(bytes, type);",
    what: /is left out$/,
    why: "on machines with little-endian numbers, on which the tests run, it does nothing",
  },
  {
    module: "dist/src/emit/wasm/print-lines.js",
    line: 'code.release("i32", line);',
    what: /is left out$/,
    why: "speed alone: the code has a local more",
  },
  {
    module: "dist/src/emit/wasm/inner-loop.js",
    line: 'always && (n === 0 || (e.op !== "select" && e.op !== "logical"))',
    what: /^"\|\|" becomes "&&"/,
    why: "speed alone: accesses that are always made are taken for such as may not be",
  },
  {
    module: "dist/src/emit/copy-axes.js",
    line: "along(from, axis, 0)",
    what: /^0 becomes 1/,
    why: "an axis that is missing has the index 0 alone",
  },
  {
    module: "dist/src/cache/folder.js",
    line: "const OTHERS = 0o077;",
    what: /^0o077 becomes 64/,
    why: "a folder of its user is closed once more, which changes nothing",
  },
  {
    module: "dist/src/skeleton/ranks/links.js",
    line: "bandwidth: 254e9",
    what: /^254e9 becomes 254000000001/,
    why: "a byte a second more",
  },
  {
    module: "dist/src/emit/js/body.js",
    line: 'const simple = s.stop.op === "const" || s.stop.op === "local"',
    what: /^"\|\|" becomes "&&"/,
    why: "the end of the loop gets a name of its own",
  },
  {
    module: "dist/src/io/table/xml-reader.js",
    line: "if (end > at)",
    what: /^">" becomes ">="/,
    why: "an empty text adds nothing",
  },
  {
    module: "dist/src/emit/standalone/opencl.js",
    line: "Math.max(1, RESIDENT / threads)",
    what: /^1 becomes 2/,
    why: "no block has more than half of the resident threads",
  },
];
