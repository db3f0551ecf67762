/* Every parallel loop of public codes: it has gfortran's bits on devices, or is refused with its place and a remedy. Both are counted. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { regionsOf, type ParallelRegion } from "../../src/fortran/analyse/regions.js";
import { readSymbols } from "../../src/fortran/analyse/symbols.js";
import { problemText, Problems, type Problem } from "../../src/fortran/errors.js";
import { fortran } from "../../src/fortran/index.js";
import { parse } from "../../src/fortran/parse/index.js";
import { preprocess } from "../../src/fortran/text/preprocess.js";
import { open, type Device } from "../../src/index.js";
import { oneDevice } from "../devices.js";
import { sequence } from "../random/data.js";
import { CODES, needsCode, read, type Code } from "./corpora.js";
import { needsGfortran } from "./gfortran.js";
import { ranOn, valuesFor } from "./loop-cases.js";
import { LoopProgram, subroutineOf, textOf, Unrunnable, type Loop, type Values } from "./loop-programs.js";
import { difference } from "./streams-reference.js";

const VARIANTS = 3;
const DEVICES = oneDevice("all") === "all" ? ["js", "wasm", "native"] : [oneDevice("all")];
const FUNCTION = /"fn":"(exp|log|log10|pow|sin|cos|tan|tanh|sinh|cosh|asin|acos|atan|atan2)"/;

/** What became of a loop, over all ways to compile it. */
interface Outcome {
  refused?: Problem;
  /** Why no program is written around it. */
  notRun?: string;
  /** Whether gfortran's code changes a variable. */
  works: boolean;
  /** The greatest difference on each device. */
  readonly worst: Map<string, number>;
}

/** How far a variable may be off: sums come in another order, functions are those of other libraries. */
function near({ kernel }: Loop, name: string, single: boolean): number {
  const { outcomes, ir } = kernel.lowered;
  if (outcomes.some((outcome) => outcome.name === name && (outcome.op === "+" || outcome.op === "*"))) return single ? 1e-5 : 1e-12;
  if (FUNCTION.test(JSON.stringify(ir.body))) return single ? 1e-5 : 1e-13;
  return 0;
}

function loopsOf(code: Code, file: string, define: Readonly<Record<string, string>>) {
  const text = read(code, file);
  const hosts = code.hosts.filter((host) => host !== file).map((host) => ({ file: host, text: read(code, host) }));
  const include = (): string => "";
  const options = { define, include };
  const made = fortran(text, { file, hosts, partial: true, ...options });
  const trees = [{ file, text }, ...hosts].map((each) => parse(each.text, { file: each.file, ...options }, new Problems()));
  const { scopes } = readSymbols(trees, {}, new Problems());
  const regions = scopes.filter(({ unit }) => unit.at.file === file).flatMap(regionsOf);
  // What the preprocessor leaves out is blank.
  const source = text.split("\n").fill("");
  for (const line of preprocess(text, { file, ...options }, new Problems())) if (line.file === file) source[line.line - 1] = line.text;
  return regions.map((region) => ({ region, kernel: made.kernels.get(region.name), source, problems: made.problems }));
}

/** The problem that a loop has. */
function problemOf(problems: readonly Problem[], region: ParallelRegion, source: readonly string[]): Problem | undefined {
  const last = region.at.line + textOf({ region, source }).length + 1;
  return problems.find(({ at }) => at.file === region.at.file && at.line >= region.at.line && at.line <= last);
}

async function check(code: Code, devices: readonly Device[]): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  for (const file of code.files)
    for (const define of code.defines) {
      const runnable: Loop[] = [];
      const outcomeOf = ({ at }: ParallelRegion): Outcome => {
        const key = `${at.file}:${at.line}`;
        const found = outcomes.get(key) ?? { works: false, worst: new Map() };
        outcomes.set(key, found);
        return found;
      };
      for (const { region, kernel, source, problems } of loopsOf(code, file, define)) {
        const outcome = outcomeOf(region);
        if (!kernel) {
          outcome.refused = problemOf(problems, region, source);
          assert.ok(outcome.refused, `${file}:${region.at.line}: the loop is neither a kernel nor refused`);
          continue;
        }
        try {
          const loop = { region, kernel, source };
          subroutineOf(loop, "loop");
          runnable.push(loop);
        } catch (error) {
          if (!(error instanceof Unrunnable)) throw error;
          outcome.notRun = error.message;
        }
      }
      if (runnable.length === 0) continue;
      const program = new LoopProgram(runnable);
      try {
        const cases = runnable.flatMap((loop) =>
          Array.from({ length: VARIANTS }, (_, n) => ({ loop, values: valuesFor(loop, code.plausible, sequence(n + 1)) })),
        );
        const expected = program.run(cases);
        for (const [n, { loop, values }] of cases.entries()) {
          const outcome = outcomeOf(loop.region);
          outcome.works ||= [...values].some(([name, { data }]) => difference(data, expected[n].get(name)!.data) !== 0);
          for (const device of devices) compare(outcome, device.backend, loop, expected[n], await ranOn(device, loop, values));
        }
      } finally {
        program.close();
      }
    }
  return outcomes;
}

function compare({ worst }: Outcome, device: string, loop: Loop, expected: Values, found: Values): void {
  const results = loop.kernel.lowered.outcomes.map(({ name }) => name);
  for (const [name, { extents, data }] of expected) {
    // gfortran has no locality of `do concurrent` and no CUDA, where other scalars are each iteration's own; private arrays are so everywhere.
    const isHeeded = loop.region.stmt?.kind === "directed" && loop.region.stmt.directive.sentinel !== "cuf";
    if (extents ? loop.region.privates.has(name) : !isHeeded && !results.includes(name)) continue;
    const by = difference(data, found.get(name)!.data);
    const { at } = loop.region;
    assert.ok(by <= near(loop, name, data instanceof Float32Array), `${at.file}:${at.line}: on ${device}, ${name} differs by ${by}`);
    worst.set(device, Math.max(worst.get(device) ?? 0, by));
  }
}

for (const code of CODES)
  describe(code.name, { skip: needsCode(code).skip || needsGfortran.skip }, () => {
    it("has gfortran's bits in every loop that is not refused", async (t) => {
      const devices = await Promise.all(DEVICES.map((name) => open(name)));
      for (const device of devices) device.precision = "strict";
      const outcomes = [...(await check(code, devices))];
      await Promise.all(devices.map((device) => device.close()));
      const refused = outcomes.filter(([, outcome]) => outcome.refused);
      const notRun = outcomes.filter(([, outcome]) => outcome.notRun);
      const run = outcomes.filter(([, { worst }]) => worst.size > 0);
      const bits = DEVICES.map((name) => `${run.filter(([, { worst }]) => worst.get(name) === 0).length} on ${name}`);
      t.diagnostic(`${outcomes.length} loops: ${outcomes.length - refused.length} translated, ${refused.length} refused`);
      t.diagnostic(`${run.length} run; the same bits: ${bits.join(", ")}`);
      for (const [place, { notRun: why }] of notRun) t.diagnostic(`${place}: translated, not run: ${why}`);
      for (const [, { refused: problem }] of refused) t.diagnostic(problemText(problem!));
      for (const [, { refused: problem }] of refused) assert.ok(problem!.remedy, `${problemText(problem!)} has no remedy`);
      assert.deepEqual(
        run.filter(([, { works }]) => !works).map(([place]) => place),
        [],
        "loops that change nothing here",
      );
    });
  });
