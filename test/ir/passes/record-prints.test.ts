import assert from "node:assert/strict";
import { test } from "node:test";
import { printOnce, recordPrints } from "../../../src/ir/passes/record-prints.js";
import type { Stmt } from "../../../src/ir/types.js";
import { walkStmts } from "../../../src/ir/walk.js";
import { f32, kernel, print, teamKernel, view } from "../../../src/index.js";
import type { Kernel } from "../../../src/kernel/declare/kernel.js";
import { lower } from "../../../src/kernel/lower/lower.js";

/** The kinds of statements around each print, outermost first. */
function aroundPrints(body: readonly Stmt[]): string[] {
  const found: string[] = [];
  const visit = (stmts: readonly Stmt[], around: readonly string[]): void => {
    for (const stmt of stmts) {
      if (stmt.kind === "print") found.push([...around, String(stmt.items[0])].join(" "));
      if ("body" in stmt) visit(stmt.body, [...around, stmt.kind]);
    }
  };
  visit(body, []);
  return found;
}

const inTeam = teamKernel("inTeam", { y: view(f32), print }, ({ y, print }, team) => {
  print("team");
  team.range(4, (j) => {
    print("member");
    y[j] = 1;
  });
  team.range(2, (j, lanes) => {
    print("of lanes");
    lanes.range(4, (k) => {
      print("lane");
      y[4 * j + k] = 2;
    });
  });
  team.single(() => print("single"));
});
const inRange = kernel("inRange", { y: view(f32), print }, ({ y, print }, i) => {
  print("element");
  y[i] = 1;
});

test("what members of a team, or lanes of a member, would print together is printed by one of them", () => {
  const ir = lower(inTeam as unknown as Kernel, {});
  assert.deepEqual(aroundPrints(printOnce(ir).body), [
    "single team",
    "teamFor member",
    "teamFor teamFor of lanes",
    "teamFor teamFor lane",
    "single single",
  ]);
  assert.deepEqual(aroundPrints(ir.body), ["team", "teamFor member", "teamFor of lanes", "teamFor teamFor lane", "single single"]);
});

test("elements of a range print each for itself", () => {
  const ir = lower(inRange as unknown as Kernel, {});
  assert.equal(printOnce(ir), ir);
  const { prints, body } = recordPrints(ir);
  assert.deepEqual(prints!.sites, [["element"]]);
  let sites = 0;
  walkStmts(body, (stmt) => void (stmt.kind === "print" && (sites += stmt.site! + 1)));
  assert.equal(sites, 1);
});
