import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadKoffi } from "../../../src/device/ffi.js";

/** What a test tells the fake library, and asks of it. */
export interface FakeHip {
  devices(count: number): void;
  /** Threads of a wavefront: 32 or 64. */
  wavefront(threads: number): void;
  /** Whether devices reach each other's memory. */
  peers(reached: boolean): void;
  /** Lets a call fail with this status, after so many that do not. */
  fail(call: string, status: number, after?: number): void;
  /** The calls so far, a line each. */
  log(): string;
  /** What was wrong with them, a line each. */
  complaints(): string;
  /** Both begin anew. */
  forget(): void;
}

/** Of kernels' compilation; a jump out of one fiber into another is no mistake. */
const FLAGS = ["-std=gnu++17", "-O1", "-w", "-fPIC", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE"];

const inSource = (name: string) => fileURLToPath(new URL(`../../../../test/device/hip/${name}`, import.meta.url));

const compilerOf = (...names: string[]) => names.find((name) => spawnSync(name, ["--version"]).status === 0);

/**
 * Builds the fake library, and points the backend at it; the cache of compiled code is a fresh one. A text where that cannot be done. To be
 * called before the backend is opened, once in a process.
 */
export async function fakeHip(): Promise<FakeHip | string> {
  const [c, cpp] = [compilerOf("gcc", "clang", "cc"), compilerOf("g++", "clang++", "c++")];
  if (!c || !cpp) return "no compiler of C and C++ was found";
  const koffi = await loadKoffi();
  if (!koffi) return "koffi is not installed";
  const folder = mkdtempSync(join(tmpdir(), "isoform-hip-"));
  // A hook of the test runner may come as soon as the tests that are known have run, though a file goes on to others.
  process.once("exit", () => rmSync(folder, { recursive: true }));
  const library = join(folder, "libamdhip64.so");
  const header = join(folder, "fake-device.hpp");
  copyFileSync(inSource("fake-device.hpp"), header);
  const run = (command: string, ...words: string[]): void => {
    const { status, stderr } = spawnSync(command, words);
    if (status !== 0) throw new Error(`the fake library does not compile:\n${stderr}`);
  };
  const text = (name: string, value: string) => `-D${name}="${value}"`;
  const places = [
    text("FAKE_FOLDER", folder),
    text("FAKE_DEVICE", header),
    text("FAKE_COMPILER", cpp),
    text("FAKE_FLAGS", FLAGS.join(" ")),
  ];
  run(c, "-std=gnu11", "-O1", "-shared", "-fPIC", ...places, inSource("fake-hip.c"), "-o", library, "-ldl");
  // Compiled once, as it takes half of the time of a kernel; GCC finds it beside the header, others read that.
  mkdirSync(`${header}.gch`);
  for (const contract of ["off", "fast"])
    run(cpp, "-x", "c++-header", ...FLAGS, `-ffp-contract=${contract}`, header, "-o", join(`${header}.gch`, contract));
  process.env.ISOFORM_HIP = folder;
  process.env.XDG_CACHE_HOME = folder;
  const handle = koffi.load(library);
  const func = (declaration: string) => handle.func(declaration);
  const peers = func("void fake_peers(int reached)");
  const fail = func("void fake_fail(const char *name, int status, int after)");
  return {
    devices: func("void fake_devices(int count)"),
    wavefront: func("void fake_wavefront(int threads)"),
    peers: (reached) => peers(reached ? 1 : 0),
    fail: (call, status, after_ = 0) => fail(call, status, after_),
    log: func("const char *fake_log()"),
    complaints: func("const char *fake_complaints()"),
    forget: func("void fake_forget()"),
  };
}
