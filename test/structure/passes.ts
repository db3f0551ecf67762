/** A step at which passes run, and who runs them. */
export interface Stage {
  /** Words of docs/ir.md. */
  readonly when: string;
  /** Folders and files of src/ that call its passes. */
  readonly by: readonly string[];
  /** Passes in the order in which they run, by their names; each stands in the file of src/ir/passes that exports it. */
  readonly passes: readonly string[];
}

/*
 * All passes of the IR, in the order of a kernel's way to code. Checked by passes.test.ts; docs/ir.md shows it. There is no such list at run time: bundlers could leave
 * nothing out.
 */
export const STAGES: readonly Stage[] = [
  { when: "a kernel", by: ["src/kernel/compile.ts", "src/fortran/"], passes: ["optimise", "relax", "recordPrints"] },
  {
    when: "inside `optimise`",
    by: ["src/ir/passes/"],
    passes: [
      "unroll",
      "arraysInMemory",
      "arraysAtRun",
      "removeDead",
      "scalarise",
      "removeOverwritten",
      "forwardCopies",
      "assignDirectly",
      "removeUnusedTables",
    ],
  },
  {
    when: "a container",
    by: ["src/domain/"],
    passes: ["gatherReductions", "optimise", "forwardStores", "hoistUniform", "removeDead"],
  },
  { when: "a launch", by: ["src/kernel/compile.ts", "src/device/"], passes: ["blockViews", "checkIndices", "ownersKernel"] },
  { when: "Fortran", by: ["src/fortran/"], passes: ["loopAsAxis"] },
  { when: "a file of `isoform emit`", by: ["src/emit/standalone/", "src/cli/"], passes: ["printOnce", "singlePrecision"] },
  {
    when: "code of `wasm`",
    by: ["src/emit/wasm/"],
    passes: [
      "wrapByChoice",
      "divideByReciprocals",
      "pairRows",
      "pairMembers",
      "loopsIntoLanes",
      "forwardStores",
      "shareLoads",
      "interiorOf",
      "shareFloatLoads",
    ],
  },
  { when: "code of `native`", by: ["src/emit/c/"], passes: ["pairMembers", "splitUniform", "interiorOf", "withoutReplaced"] },
  { when: "code of GPUs", by: ["src/schedule/", "src/emit/wgsl/"], passes: ["sequenceChecks", "splitUniform", "jam"] },
];
