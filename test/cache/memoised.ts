/* Memoises results that the test tells apart; prints how often each was made. To be run as a process of its own. */
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
work("short", 1);
work("short", 1);
const derived = work("derived", named(first));
work("derived", named(again));
work("part", named(first.values));
const circle: unknown[] = [];
circle.push(circle, long(3));
work("no data", circle);
work("no data", circle);
process.stdout.write(
  JSON.stringify({ made, same: first === again, values: derived.values.map((value) => (Object.is(value, -0) ? "-0" : String(value))) }),
);
