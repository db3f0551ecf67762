import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

interface Entry {
  resolved?: string;
  optionalDependencies?: Record<string, string>;
}

const path = fileURLToPath(new URL("../../../package-lock.json", import.meta.url));
const { packages } = JSON.parse(readFileSync(path, "utf8")) as { packages: Record<string, Entry> };

/** The package whose node_modules hold the package at `from`: "" is the root. */
const holder = (from: string): string => from.slice(0, Math.max(0, from.lastIndexOf("node_modules/") - 1));

/** Whether the lock has `name` where Node looks for it from the package at `from`: in its own node_modules, then in those above. */
const found = (from: string, name: string): boolean =>
  [from, "node_modules", name].filter(Boolean).join("/") in packages || (from !== "" && found(holder(from), name));

describe("package-lock.json", () => {
  it("has the packages of every platform, without which npm ci refuses it", () => {
    const missing = Object.entries(packages).flatMap(([from, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !found(from, name))
        .map((name) => `${name}, which ${from} asks for`),
    );
    assert.deepEqual(missing, []);
  });

  it("names no registry, so that npm takes the user's own", () => {
    const named = Object.entries(packages)
      .filter(([, { resolved }]) => resolved !== undefined)
      .map(([at]) => at);
    assert.deepEqual(named, []);
  });
});
