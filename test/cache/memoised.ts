/* Memoises results that the test tells apart; prints how often each was made. To be run as a process of its own. */
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { memoised, named } from "../../src/cache/memoise.js";

const made: string[] = [];
const long = (first: number) => ({ first, rest: Array.from({ length: 20_000 }, (_, n) => n) });
const work = (name: string, input: unknown): { readonly values: readonly number[] } =>
  memoised("test", [name, input], () => {
    made.push(name);
    return { values: [NaN, -0, made.length] };
  });

const first = work("first", long(1));
const again = work("first", long(1));
work("other", long(2));
const short = work("short", 1);
const alike = work("short", 1);
work("of short", named(short));
work("of short", named(alike));
const derived = work("derived", named(first));
work("derived", named(again));
work("part", named(first.values));
const circle: unknown[] = [];
circle.push(circle, long(3));
work("no data", circle);
work("no data", circle);

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
/** Asks for a result that nobody keeps, after what was kept by nobody is gone. */
async function unkept(): Promise<void> {
  // An object that was reached through a WeakRef stays until the end of the turn.
  await setImmediate();
  collect();
  work("unkept", 2);
}
await unkept();
await unkept();
for (let n = 0; n < 256; n++) memoised("filler", n, () => ({ n }));
await unkept();

process.stdout.write(
  JSON.stringify({
    made,
    same: first === again && short === alike,
    values: derived.values.map((value) => (Object.is(value, -0) ? "-0" : String(value))),
  }),
);
