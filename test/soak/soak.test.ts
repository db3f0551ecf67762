import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { mutatedBytes, mutatedJson, mutatedText, picks } from "./mutate.js";
import { soak, type Soak } from "./soak.js";
import type { Subject } from "./subject.js";

const told = (over: Partial<Soak>): Soak => ({
  subjects: [],
  seed: 5,
  seconds: 60,
  trials: 4,
  begins: () => {},
  found: () => {},
  goes: () => {},
  stopped: () => false,
  ...over,
});

describe("a soak", () => {
  it("goes on after a defect, and tells its subject and seed", async () => {
    const found: string[] = [];
    const subject: Subject = {
      name: "odd",
      weight: 1,
      open: () =>
        Promise.resolve({
          trial: (seed) => (seed === 6 ? Promise.reject(new Error("wrong\nat length")) : Promise.resolve({ things: 2 })),
          close: () => Promise.resolve(),
        }),
    };
    const { counts, trials, defects } = await soak(
      told({ subjects: [subject], found: (name, seed, error) => found.push(`${name} ${seed} ${error.message}`) }),
    );
    assert.deepEqual([counts, trials], [{ things: 6 }, { odd: 4 }]);
    assert.deepEqual(defects, [{ subject: "odd", seed: 6, what: "wrong" }]);
    assert.deepEqual(found, ["odd 6 wrong\nat length"]);
  });

  it("shares the time by weights, ends when it is told to, and says what is missing", async () => {
    let now = 0;
    const order: string[] = [];
    const slow = (name: string, weight: number): Subject => ({
      name,
      weight,
      open: () =>
        Promise.resolve({
          async trial() {
            order.push(name);
            await new Promise((resolve) => setTimeout(resolve, 20));
            return {};
          },
          close: () => Promise.resolve(),
        }),
    });
    const absent: Subject = { ...slow("absent", 1), missing: () => Promise.resolve("not here") };
    const subjects = [slow("often", 3), slow("seldom", 1), absent];
    const { missing } = await soak(told({ subjects, trials: Infinity, stopped: () => now++ >= 16 }));
    assert.deepEqual(missing, { absent: "not here" });
    const often = order.filter((name) => name === "often").length;
    assert.ok(order.length === 16 && often >= 10 && often <= 14, order.join());
  });
});

it("mutants are the same for the same seed, and differ from what they are made of", () => {
  const text = "const x = a[i] * 2; if (x > 1) y[i] = Math.sqrt(x);";
  const json = { a: [1, { b: "c" }], d: null };
  const all = (seed: number): unknown[] => {
    const pick = picks(seed);
    return [mutatedText(text, pick), [...mutatedBytes(Buffer.from(text), pick)].join(), JSON.stringify(mutatedJson(json, pick))];
  };
  const list = Array.from({ length: 50 }, (_, seed) => all(seed));
  assert.deepEqual(
    list,
    Array.from({ length: 50 }, (_, seed) => all(seed)),
  );
  assert.ok(new Set(list.map(([mutant]) => mutant)).size > 40);
  assert.ok(list.filter(([mutant]) => mutant === text).length < 5);
});
