import assert from "node:assert/strict";
import { test } from "node:test";
import { dependencies, type Accesses, type Atom, type DependencyGraph } from "../../../src/skeleton/plan/graph.js";

const data = { a: { name: "a" }, b: { name: "b" } };
const atoms = (names: string): Atom[] => [...names].map((n) => ({ datum: data[n as "a" | "b"], part: "whole" }));
const node = (name: string, reads: string, writes: string): Accesses & { name: string } => ({
  name,
  reads: atoms(reads),
  writes: atoms(writes),
});
const text = (graph: DependencyGraph<{ name: string }>) => graph.edges.map((e) => `${e.from.name}${e.to.name}`);

test("read after write, write after read, write after write", () => {
  const graph = dependencies([node("W", "", "a"), node("R", "a", ""), node("V", "", "a")]);
  assert.deepEqual(
    graph.edges.map((e) => [e.from.name, e.to.name, e.reasons.map((r) => `${r.hazard} ${r.datum.name}`)]),
    [
      ["W", "R", ["read after write a"]],
      ["R", "V", ["write after read a"]],
      ["W", "V", ["write after write a"]],
    ],
  );
});

test("two readers need no order", () => {
  assert.deepEqual(text(dependencies([node("W", "", "a"), node("R", "a", ""), node("S", "a", "")])), ["WR", "WS"]);
});

test("a node that updates in place depends on the last writer and the readers since, not on itself", () => {
  assert.deepEqual(text(dependencies([node("W", "", "a"), node("R", "a", ""), node("U", "a", "a"), node("S", "a", "")])), [
    "WR",
    "WU",
    "RU",
    "US",
  ]);
});

test("edges that follow from longer paths are redundant, and remembered", () => {
  const graph = dependencies([node("1", "", "a"), node("2", "a", "b"), node("3", "ab", "")]).reduced();
  assert.deepEqual(text(graph), ["12", "23"]);
  assert.deepEqual(
    graph.redundant.map((e) => `${e.from.name}${e.to.name}`),
    ["13"],
  );
  assert.ok(graph.reaches(graph.nodes[0], graph.nodes[2]));
  assert.ok(!graph.reaches(graph.nodes[2], graph.nodes[0]));
});

test("parts of a datum are independent", () => {
  const part = (name: string, p: Atom["part"], writes: boolean) => {
    const list: Atom[] = [{ datum: data.a, part: p }];
    return { name, reads: writes ? [] : list, writes: writes ? list : [] };
  };
  const graph = dependencies([part("I", "internal", true), part("B", "boundary", true), part("i", "internal", false)]);
  assert.deepEqual(text(graph), ["Ii"]);
});
