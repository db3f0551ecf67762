import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { EQUIVALENT } from "./equivalent.js";
import { executedIn, type Executed } from "./executed.js";
import type { Job } from "../../jobs.js";
import { ask, equivalence, type Asking } from "./mutants.js";
import { mutated, mutationsOf } from "./sites.js";
import { inOrder, type Noticed } from "./order.js";
import { executes, type Trace } from "./traces.js";
import { roomOf } from "./workspace.js";

const all = (code: string): string[] => mutationsOf(code).map((mutation) => mutated(code, mutation));

describe("mutants of compiled modules", () => {
  it("change operators, numbers, truth values and conditions, and leave statements out", () => {
    assert.deepEqual(all("const x = a <= 2;"), ["const x = a < 2;", "const x = a <= 3;"]);
    assert.deepEqual(all("f(!(a in b), true);"), [";", "f((a in b), true);", "f(!(a in b), false);"]);
    assert.deepEqual(all("x = a ? 0 : b;"), [";", "x = !(a) ? 0 : b;", "x = a ? 1 : b;"]);
    assert.deepEqual(all("for (;;) { if (a && b) break; }"), [
      "for (;;) { if (!(a && b)) break; }",
      "for (;;) { if (a || b) break; }",
      "for (;;) { if (a && b) ; }",
    ]);
  });

  it("leave texts and errors alone", () => {
    assert.deepEqual(all('const t = "a" + b; const u = `${t}` + c;'), []);
    assert.deepEqual(all("throw new Error(`${a + 1}`);"), []);
    assert.deepEqual(all('"use strict";'), []);
  });

  it("tell their line and what changes", () => {
    const [{ line, what }] = mutationsOf("const a = 1n;\nconst b = c / d;");
    assert.deepEqual({ line, what }, { line: 2, what: '"/" becomes "*" in c / d' });
  });

  it("are tried with the tests that execute them: first those that noticed others beside them, then the nearest to the room and the quick ones", () => {
    assert.equal(roomOf("dist/src/ir/analysis/proofs.js"), "ir/analysis");
    assert.equal(roomOf("dist/src/index.js"), "");
    const jobs = ["set/copy", "ir/print", "ir/analysis/new", "ir/analysis/access", "ir/analysis/affine", "io/vtk"].map((name): Job => ({
      name,
      tier: "default",
    }));
    const seconds = new Map(
      Object.entries({ "set/copy": 1, "ir/print": 2, "ir/analysis/access": 9, "ir/analysis/affine": 3, "io/vtk": 0.5 }),
    );
    const names = (module: string, ...noticed: Noticed[]): string[] =>
      inOrder(jobs, seconds, { module: `dist/src/ir/analysis/${module}.js`, line: 10 }, noticed).map(({ name }) => name);
    assert.deepEqual(names("proofs"), ["ir/analysis/affine", "ir/analysis/access", "ir/analysis/new", "ir/print", "io/vtk", "set/copy"]);
    assert.deepEqual(names("access").slice(0, 2), ["ir/analysis/access", "ir/analysis/affine"]);
    const noticed = (name: string, module: string, line: number): Noticed => ({ name, module: `dist/src/ir/analysis/${module}.js`, line });
    assert.deepEqual(
      names(
        "access",
        noticed("io/vtk", "access", 12),
        noticed("io/vtk", "access", 90),
        noticed("set/copy", "access", 9),
        noticed("ir/print", "a", 10),
      ),
      ["set/copy", "io/vtk", "ir/analysis/access", "ir/analysis/affine", "ir/analysis/new", "ir/print"],
    );
    const module = { path: "dist/src/a.js", code: "", mutations: [] };
    const flags: Executed[] = [{ "dist/src/a.js": "01" }, { "dist/src/a.js": "10" }, {}];
    const executed = flags.map((each) => executes({ seconds: 1, executed: each }, module, 1));
    assert.deepEqual(executed, [true, false, false]);
  });

  it("are asked for until a file notices, or for as long as the budget lasts", async () => {
    const ran: string[] = [];
    const asking = (noticing: string, budget: number, known = "abcd"): Asking => ({
      jobs: ["a", "b", "unmoved", "c", "d"].map((name): Job => ({ name, tier: "default" })),
      isKnown: ({ name }) => known.includes(name),
      traceOf: ({ name }) => Promise.resolve<Trace>({ seconds: 10, executed: name === "unmoved" ? {} : { m: "1" } }),
      executes: ({ executed }) => "m" in executed,
      notices: ({ name }) => {
        ran.push(name);
        return Promise.resolve(name === noticing ? { name, late: false } : undefined);
      },
      budget,
      width: 1,
    });
    const runs = async (...args: Parameters<typeof asking>) => ({ ...(await ask(asking(...args))), ran: ran.splice(0) });
    assert.deepEqual(await runs("c", 100), { notice: { name: "c", late: false }, asked: 3, cut: false, ran: ["a", "b", "c"] });
    assert.deepEqual(await runs("nobody", 100), { notice: undefined, asked: 4, cut: false, ran: ["a", "b", "c", "d"] });
    assert.deepEqual(await runs("d", 20), { notice: undefined, asked: 2, cut: true, ran: ["a", "b"] });
    assert.deepEqual(await runs("d", 25, "d"), { notice: { name: "d", late: false }, asked: 3, cut: false, ran: ["a", "b", "d"] });
    assert.deepEqual(await runs("nobody", 25, "d"), { notice: undefined, asked: 3, cut: true, ran: ["a", "b", "d"] });
  });

  it("are no longer asked about once a file has noticed", async () => {
    const { notice } = await ask({
      jobs: ["endless", "quick"].map((name): Job => ({ name, tier: "default" })),
      isKnown: () => true,
      traceOf: () => Promise.resolve({ seconds: 1, executed: {} }),
      executes: () => true,
      notices: ({ name }, _, stopped) =>
        name === "quick"
          ? Promise.resolve({ name, late: false })
          : new Promise((resolve) => stopped.addEventListener("abort", () => resolve(undefined))),
      budget: 100,
      width: 2,
    });
    assert.equal(notice?.name, "quick");
  });

  it("are executed where the innermost range of the engine's coverage says so, or where a function's text is asked for", () => {
    const root = mkdtempSync(join(tmpdir(), "isoform-executed-"));
    const module = (path: string, code: string) => ({ path, code, mutations: mutationsOf(code) });
    const code = "const f = (a) => { if (a < 1) return a + 2; return a - 3; };";
    const [own, pool, kernel, unseen] = ["own", "device/cpu/pool", "kernel", "unseen"].map((name) => module(`dist/src/${name}.js`, code));
    const from = code.indexOf("return a + 2");
    const functions = [{ ranges: [{ startOffset: 0, endOffset: code.length, count: 1 }] }];
    const inner = [
      { startOffset: code.indexOf("(a)"), endOffset: code.length - 1, count: 2 },
      { startOffset: from, endOffset: from + 13, count: 0 },
    ];
    const url = (path: string) => pathToFileURL(join(root, path)).href;
    try {
      mkdirSync(join(root, "coverage"));
      const result = [
        { url: url(own.path), functions: [...functions, { ranges: inner }] },
        { url: url(pool.path), functions: [{ ranges: [{ startOffset: 0, endOffset: code.length, count: 0 }] }] },
        { url: "node:fs", functions },
      ];
      writeFileSync(join(root, "coverage", "a.json"), JSON.stringify({ result }));
      const text = "(a) => { if (a < 1) return a + 2; return a - 3; }";
      const found = executedIn(join(root, "coverage"), [text], root, [own, pool, { ...kernel, code: `${code} x = 4;` }, unseen]);
      const at = (what: string): number => own.mutations.findIndex((mutation) => mutation.what.startsWith(what));
      assert.equal(found[own.path], "1".repeat(own.mutations.length), "its text is that of the kernel's, too");
      assert.equal(found[pool.path], "1".repeat(pool.mutations.length));
      const [without] = Object.entries(executedIn(join(root, "coverage"), [], root, [own]));
      assert.deepEqual(
        ['"<" becomes', '"+" becomes', '"-" becomes', "2 becomes", "3 becomes"].map((what) => without[1][at(what)]),
        ["1", "0", "1", "0", "1"],
      );
      assert.deepEqual(executedIn(join(root, "coverage"), [], root, [unseen]), {});
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it("count as equivalent only where the module, the line and the change are those that were shown", () => {
    const list = [{ module: "dist/src/a.js", line: "x < y", what: /"<" becomes/, why: "x is never y" }];
    assert.equal(equivalence(list, "dist/src/a.js", "if (x < y)", '"<" becomes "<=" in x < y'), "x is never y");
    assert.equal(equivalence(list, "dist/src/a.js", "if (x < z)", '"<" becomes "<=" in x < z'), undefined);
    assert.equal(equivalence(list, "dist/src/b.js", "if (x < y)", '"<" becomes "<=" in x < y'), undefined);
  });

  it("that were shown to be equivalent still exist", () => {
    for (const { module, line, what } of EQUIVALENT) {
      const code = readFileSync(fileURLToPath(new URL(`../../../../${module}`, import.meta.url)), "utf8");
      const lines = code.split("\n");
      assert.ok(
        mutationsOf(code).some((mutation) => lines[mutation.line - 1].includes(line) && what.test(mutation.what)),
        `${module}: no change ${what} on a line with "${line}"`,
      );
    }
  });
});
