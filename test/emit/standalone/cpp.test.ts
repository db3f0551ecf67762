import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import koffi from "koffi";
import type { EmittedFile, EmitRequest } from "../../../src/emit/standalone/index.js";
import { emitKokkos } from "../../../src/emit/standalone/kokkos.js";
import { emitOpenacc } from "../../../src/emit/standalone/openacc.js";
import { launchArguments } from "../../../src/emit/standalone/signature.js";
import { emitStdpar } from "../../../src/emit/standalone/stdpar.js";
import type { Precision } from "../../../src/ir/launch.js";
import { matchesSnapshot } from "../snapshot.js";
import { argumentValues, CASES, expectedOf, memoryOf, requestOf, type Case } from "./cases.js";
import { buildFlags, inFolder, inNamespace, missing, run } from "./compiled.js";

const TYPES = {
  f64: "double",
  f32: "float",
  i32: "int32_t",
  u32: "uint32_t",
  i64: "int64_t",
  u64: "uint64_t",
  u8: "uint8_t",
  i8: "int8_t",
  u16: "uint16_t",
  i16: "int16_t",
  f16: "uint16_t",
  bf16: "uint16_t",
  bool: "bool",
  index: "int64_t",
};
const KOKKOS = process.env.ISOFORM_KOKKOS;

/** Whether g++ links this library. */
const links = (library: string): boolean =>
  spawnSync("g++", ["-x", "c++", "-", "-o", "/dev/null", `-l${library}`], { input: "int main() {}" }).status === 0;

interface Language {
  readonly title: string;
  readonly emit: (request: EmitRequest) => EmittedFile[];
  readonly libraries: readonly string[];
  /** Parameters of the launch function after the kernel's own, and around its call. */
  readonly call: readonly [before: string, more: string, after: string];
  readonly skip: string | false;
}

const tbb = missing("g++") || (!links("tbb") && "libtbb-dev not installed");
const LANGUAGES: readonly Language[] = [
  { title: "OpenACC", emit: emitOpenacc, libraries: [], call: ["", "", ""], skip: missing("g++") },
  { title: "parallel algorithms", emit: emitStdpar, libraries: ["-ltbb"], call: ["", "", ""], skip: tbb },
  {
    title: "Kokkos",
    emit: emitKokkos,
    libraries: [`-L${KOKKOS}/lib`, "-lkokkoscore", `-Wl,-rpath,${KOKKOS}/lib`, "-ldl"],
    call: ["if (!Kokkos::is_initialized()) Kokkos::initialize(); Kokkos::DefaultExecutionSpace space;", "space", "space.fence();"],
    skip: missing("g++") || (!existsSync(join(KOKKOS ?? "", "include", "Kokkos_Core.hpp")) && "ISOFORM_KOKKOS names no Kokkos"),
  },
];

/** A function that calls the launch function with arrays by their addresses. */
function entry({ stem, ...request }: EmitRequest, { call: [before, more, after] }: Language): string {
  const args = launchArguments({ stem, ...request }, { of: (_kind, name, wish = name) => wish });
  const types = args.map(({ type, element }) => (type === "pointer" ? `${TYPES[element!]} *` : TYPES[type]));
  const passed = [...args.map(({ name }) => name), ...(more ? [more] : [])].join(", ");
  const parameters = args.map(({ name }, n) => `${types[n]} ${name}`).join(", ");
  return `extern "C" void ${stem}_on_host(${parameters}) { ${before} (void)of_${stem}::${stem}_launch(${passed}); ${after} }\n`;
}

/** All cases in one file, compiled as the head of the first says, and what each launch leaves. */
async function launched(language: Language, precision: Precision): Promise<Map<Case, Record<string, ArrayLike<number>>>> {
  const requests = CASES.map((given) => requestOf(given, precision));
  const texts = requests.map((request) => language.emit(request)[0].text);
  const text = [...texts.map(inNamespace), ...requests.map((request) => entry(request, language))].join("\n");
  return inFolder([{ name: "all.cpp", text }], (folder) => {
    const flags = buildFlags(texts[0], "g++").map((flag) => flag.replace("$ISOFORM_KOKKOS", KOKKOS ?? ""));
    run(
      folder,
      "g++",
      ...flags,
      "-Wall",
      "-Werror",
      "-shared",
      "-fPIC",
      "-Wl,-z,nodelete",
      "-o",
      "all.so",
      "all.cpp",
      ...language.libraries,
    );
    const library = koffi.load(join(folder, "all.so"));
    return new Map(
      CASES.map((given, n) => {
        const memory = memoryOf(given, requests[n]);
        const types = launchArguments(requests[n], { of: (_kind, name) => name }).map(({ type }) =>
          type === "pointer" ? "void *" : TYPES[type],
        );
        const launch = library.func(`${requests[n].stem}_on_host`, "void", types) as unknown as (...values: unknown[]) => void;
        launch(...argumentValues(given, requests[n], memory).map(({ value }) => value));
        return [given, memory];
      }),
    );
  });
}

for (const language of LANGUAGES)
  describe(`${language.title}, by g++,`, { skip: language.skip }, () => {
    it("gives the device's bits in strict mode", async () => {
      for (const [given, found] of await launched(language, "strict")) assert.deepEqual(found, await expectedOf(given), given.kernel.name);
    });
    it("gives nearly those in fast mode", async () => {
      for (const [given, found] of await launched(language, "fast")) {
        const expected = await expectedOf(given);
        for (const [name, values] of Object.entries(found))
          Array.from(values).forEach((value, n) =>
            assert.ok(
              Math.abs(value - expected[name][n]) <= 1e-5 * Math.max(1, Math.abs(value)),
              `${name}[${n}] of ${given.kernel.name} is ${value}, not ${expected[name][n]}`,
            ),
          );
      }
    });
  });

for (const [name, emit, suffix, n, precision] of [
  ["OpenACC brings arrays to the device and back", emitOpenacc, "acc", 1, "strict"],
  ["OpenACC updates atomically", emitOpenacc, "acc", 3, "fast"],
  ["parallel algorithms add up", emitStdpar, "stdpar", 2, "fast"],
  ["parallel algorithms update atomically, in sequence", emitStdpar, "stdpar", 3, "fast"],
  ["Kokkos runs a stencil over a box", emitKokkos, "kokkos", 1, "fast"],
  ["Kokkos keeps partial results in a view", emitKokkos, "kokkos", 2, "strict"],
] as const)
  it(name, () => {
    const [{ text }] = emit(requestOf(CASES[n], precision));
    matchesSnapshot(`emit/standalone/${CASES[n].kernel.name}.${suffix}.cpp`, text);
  });
