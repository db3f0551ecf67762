import { analyseAccess } from "../../src/ir/analysis/access.js";
import { KernelBuilder } from "../../src/ir/builder.js";
import { add, constant, element, entry, index, load, type Typed } from "../../src/ir/expressions.js";
import type { KernelIR } from "../../src/ir/types.js";
import { contiguousRows, cubicSizes, stemOf, type EmitRequest } from "../../src/emit/standalone/index.js";
import type { Precision } from "../../src/ir/launch.js";

/* Names that somebody might give to harm, or without knowing better, and kernels that have nothing but such names. */

/** What would run, or break the code, if it came out of a comment or a string. */
const BREAKS = [
  "\n",
  "\r",
  "\r\n",
  "\u2028",
  "\u2029",
  "\u0085",
  "\v",
  "\f",
  "*/",
  "/*",
  "\\\n",
  "??/\n",
  "?\\\n",
  '"',
  "'",
  "`",
  "${",
  "*/ */",
  ";)",
  "(;",
  "\0",
];
const PAYLOADS = [
  "INJECTED",
  "#error INJECTED",
  "#include <INJECTED>",
  "throw INJECTED;",
  "__attribute__((constructor)) static void INJECTED(void) {}",
  "} INJECTED {",
  "fn INJECTED( {",
  "(INJECTED",
];

/** Words of the languages and their libraries, of the emitters, of Object.prototype, and others that look like identifiers. */
const WORDS = (
  "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return short signed sizeof static " +
  "struct switch typedef union unsigned void volatile while _Bool bool true false asm typeof main class delete explicit friend mutable namespace new operator " +
  "private protected public template this throw try catch typename using virtual and or not xor bitand bitor compl constexpr nullptr let var function await " +
  "yield async arguments eval undefined NaN Infinity Math Float64Array Atomics memory buffers args worker workers override loop fn alias discard enable requires " +
  "i32 u32 f32 f64 u8 bool vec2 array atomic ptr select bitcast abs min max clamp launch Launch workgroup invocation thread_number M_PI M_PI_2 INT32_MAX HUGE_VAL " +
  "INFINITY NAN NULL linux unix i386 I complex EOF stdin errno signgam assert offsetof int32_t size_t exp log pow sin sqrt y0 j1 jn gamma index div float4 half " +
  "global local kernel barrier get_global_id blockIdx threadIdx warpSize atomicAdd __shared__ __global__ __device__ __proto__ constructor valueOf toString " +
  "hasOwnProperty isPrototypeOf prototype __defineGetter__ TRY stream queue program status context device grid block share begin end first last partial chunks " +
  "line lane lane_ x_ x_2_ x__ _ __ ___ _x x $ $x $lo $hi $n $i0 $first $scalars i j k l n a b team place total zero one launch_ fold sum_f64 min_f64 max_i32 " +
  "i32_from i32_from_f64 rounded copies values keys order slots temporary results main_ std sycl done at module param func i"
).split(" ");

const LETTERS = [
  "é",
  "π",
  "Ω",
  "Ж",
  "中",
  "𝒙",
  "ﬁ",
  "İ",
  "ß",
  "\u200b",
  "\u202e",
  "\u2066",
  "\ufeff",
  "\ud800",
  "e\u0301",
  " ",
  "-",
  ".",
  "$",
  "_",
  "x",
  "X",
  "1",
  ":",
  "@",
  "#",
  "\t",
];

/** `count` different names, always the same ones; `more` come first. */
export function hostileNames(count: number, more: readonly string[] = []): string[] {
  let state = 12345;
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const pick = <T>(list: readonly T[]): T => list[random(list.length)];
  const names = new Set<string>([...more, ...WORDS]);
  for (const between of BREAKS)
    names
      .add(`x${between}${pick(PAYLOADS)}${between}//`)
      .add(`${between}${pick(PAYLOADS)}`)
      .add(`x${between}`);
  names
    .add("x".repeat(5000))
    .add(`${"x".repeat(5000)}y`)
    .add("_".repeat(300))
    .add("9".repeat(300));
  while (names.size < count) {
    const draw = random(4);
    if (draw === 0) names.add(`${pick(WORDS)}${pick(BREAKS)}${pick(PAYLOADS)}${pick(BREAKS)}${random(1000)}`);
    else if (draw === 1) names.add(Array.from({ length: 1 + random(6) }, () => pick(LETTERS)).join(""));
    else if (draw === 2)
      names.add(`${pick(["", "_", "__", "$"])}${pick(WORDS)}${pick(["", "_", "__", "_2", "_2_", "_extent0", "_stride0", "f", "1"])}`);
    else names.add(`${pick(WORDS)}${pick(LETTERS)}${pick(WORDS)}`);
  }
  // Kinds among each other, whatever the count.
  const all = [...names].slice(0, Math.max(count, names.size));
  for (let n = all.length - 1; n > 0; n--) {
    const other = random(n + 1);
    [all[n], all[other]] = [all[other], all[n]];
  }
  return all.slice(0, count);
}

/** A kernel of the names and no others, and the same of plain names; both give `values(i)` in the one array that they write. */
export function kernelOf(names: readonly string[]): { ir: KernelIR; args: readonly string[] } {
  const [name, file, scalar, source, target, result, table, array, counter, ...locals] = names;
  const b = new KernelBuilder(name, { location: { file, line: 1, column: 1 } });
  const a = b.scalar(scalar, "f32");
  const x = b.view(source, "f32");
  const y = b.view(target, "f32");
  const s = b.reduce(result, "i32");
  const t = b.table(table, "f32", [1, 2, 4]);
  b.at({ file, line: 2, column: 1 });
  const i = index(0);
  const kept = b.array(array, "f32", 2, "private");
  let value: Typed<"f32"> = add(load(x, i), a) as Typed<"f32">;
  for (const local of locals) value = b.let(local, add(value, 1)) as unknown as Typed<"f32">;
  b.setElement(kept, 0, value);
  b.for(counter, 0, 3, (n) => b.setElement(kept, 1, add(element(kept, 1), entry(t, [n]))));
  b.store(y, i, add(element(kept, 0), element(kept, 1)));
  b.reduceTo(s, constant("i32", 1));
  return { ir: b.finish(), args: [scalar, source, target, result] };
}

/** Kernels of `size` names each. */
export function kernelsOf(names: readonly string[], size: number): ReturnType<typeof kernelOf>[] {
  return Array.from({ length: Math.floor(names.length / size) }, (_, n) => kernelOf(names.slice(n * size, (n + 1) * size)));
}

/** What is to be written of a kernel. */
export function requestOf(ir: KernelIR, precision: Precision): EmitRequest {
  return { ir, access: analyseAccess(ir), precision, stem: stemOf(ir.name), unitStrides: contiguousRows(ir), sizes: cubicSizes(ir, 8) };
}
