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
    module: "dist/src/kernel/loops.js",
    line: "step > 0 ? ",
    what: /^">" becomes ">=" in step > 0/,
    why: "no step is 0",
  },
  {
    module: "dist/src/kernel/loops.js",
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
    module: "dist/src/domain/dense/member-folds.js",
    line: "axis < 0 ? 1 : extents[axis]",
    what: /^(0 becomes 1|"<" becomes "<=")/,
    why: "speed alone, and the rounding of fast mode: cells along the first axis are not divided among threads",
  },
  {
    module: "dist/src/domain/particles/kernels.js",
    line: "periodic === 0 || (at >= 0 && at < length)",
    what: /^">=" becomes ">"/,
    why: "0 is brought back to 0",
  },
  {
    module: "dist/src/domain/container/run.js",
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
];
