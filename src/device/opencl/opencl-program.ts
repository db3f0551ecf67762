import type { Precision } from "../device.js";
import { DeviceError } from "../../base/errors.js";
import { recall, remember } from "../../cache/cache.js";
import { keepSource } from "../../cache/keep-source.js";
import { BUILD_FAILED, failure, type OpenclHandle, type Opencl } from "./api.js";
import type { OpenclFacts } from "./facts.js";

const ProgramInfo = { binarySizes: 0x1165, binaries: 0x1166 } as const;
const BUILD_LOG = 0x1183;

/** The device that a program is compiled for. */
interface ProgramMachine {
  readonly name: string;
  readonly facts: OpenclFacts;
  readonly context: OpenclHandle;
}

interface ProgramSource {
  readonly source: string;
  /** Named in errors. */
  readonly name: string;
  readonly precision: Precision;
}

/** Options of the compiler. Strict code itself says that it is not contracted. */
const buildOptions = ({ exactF32, standard }: Pick<OpenclFacts, "exactF32" | "standard">): string =>
  [`-cl-std=${standard}`, "-w", ...(exactF32 ? ["-cl-fp32-correctly-rounded-divide-sqrt"] : [])].join(" ");

/**
 * A program compiled for one device, from a cache on disk where the same driver compiled it before. Throws DeviceError with the kernel's
 * name, its source line where that can be told, and the compiler's first lines.
 */
export function buildProgram(
  cl: Opencl,
  machine: ProgramMachine,
  device: OpenclHandle,
  { source, name, precision }: ProgramSource,
): OpenclHandle {
  keepSource(name, source, precision, "cl");
  const { platform, label, driver, caches } = machine.facts;
  const options = buildOptions(machine.facts);
  const parts = [platform, label, driver, options, source];
  const known = caches ? undefined : recall("clbin", parts);
  const reused = known && fromBinary(cl, machine.context, device, known, options);
  if (reused !== undefined) return reused;
  const program = cl.create("clCreateProgramWithSource", machine.context, 1, [source], null);
  const status = build(cl, program, device, options);
  if (status !== 0) {
    const error =
      status === BUILD_FAILED ? refusal(machine, name, source, buildLog(cl, program, device)) : failure("clBuildProgram", status);
    cl.status("clReleaseProgram", program);
    throw error;
  }
  const binary = caches ? undefined : binaryOf(cl, program);
  const again = binary && fromBinary(cl, machine.context, device, binary, options);
  // A driver has to take what it gave before it is kept.
  if (binary && again !== undefined) {
    remember("clbin", parts, binary);
    cl.status("clReleaseProgram", again);
  }
  return program;
}

function build(cl: Opencl, program: OpenclHandle, device: OpenclHandle, options: string): number {
  return cl.status("clBuildProgram", program, 1, new BigUint64Array([BigInt(device)]), options, null, null);
}

/** Undefined if the driver no longer takes what it once gave. */
function fromBinary(
  cl: Opencl,
  context: OpenclHandle,
  device: OpenclHandle,
  binary: Uint8Array,
  options: string,
): OpenclHandle | undefined {
  const held = binary.slice().buffer;
  const pointer = new BigUint64Array([BigInt(cl.koffi.address(held))]);
  const length = new BigUint64Array([BigInt(held.byteLength)]);
  try {
    const program = cl.create(
      "clCreateProgramWithBinary",
      context,
      1,
      new BigUint64Array([BigInt(device)]),
      length,
      pointer,
      new Int32Array(1),
    );
    if (build(cl, program, device, options) === 0) return program;
    cl.status("clReleaseProgram", program);
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
  }
  return undefined;
}

/** The machine code of a program with one device; undefined if the driver gives none. */
function binaryOf(cl: Opencl, program: OpenclHandle): Uint8Array | undefined {
  const size = new BigUint64Array(1);
  if (cl.status("clGetProgramInfo", program, ProgramInfo.binarySizes, 8, size, null) !== 0 || size[0] === 0n) return undefined;
  const binary = new ArrayBuffer(Number(size[0]));
  const pointer = new BigUint64Array([BigInt(cl.koffi.address(binary))]);
  return cl.status("clGetProgramInfo", program, ProgramInfo.binaries, 8, pointer, null) === 0 ? new Uint8Array(binary) : undefined;
}

function buildLog(cl: Opencl, program: OpenclHandle, device: OpenclHandle): string {
  const size = new BigUint64Array(1);
  cl.call("clGetProgramBuildInfo", program, device, BUILD_LOG, 0, null, size);
  const text = new Uint8Array(Number(size[0]));
  cl.call("clGetProgramBuildInfo", program, device, BUILD_LOG, text.length, text, null);
  return new TextDecoder().decode(text).replaceAll("\0", "").trim();
}

function refusal({ name: device, facts }: ProgramMachine, kernel: string, source: string, log: string): DeviceError {
  const line = kernelLine(source, log);
  const where = line === undefined ? "" : `, at what its line ${line} became`;
  return new DeviceError(
    device,
    `the compiler of ${facts.platform} refused the code generated for "${kernel}"${where}:\n${log.split("\n").slice(0, 12).join("\n")}`,
    "this is a defect of the emitter: please report it with the kernel",
  );
}

/** The line of the kernel's source whose code the first error is in: the last one noted in the generated code up to there. */
export function kernelLine(source: string, log: string): number | undefined {
  // As clang, PoCL, and Windows compilers say it.
  const error = [/:(\d+):\d+: (?:fatal )?error/, /error: \S+:(\d+):\d+/, /\((\d+)\)\s*: error/].map((form) => form.exec(log)).find(Boolean);
  if (!error) return undefined;
  const notes = source
    .split("\n")
    .slice(0, Number(error[1]))
    .flatMap((text) => /\/\/ line (\d+)$/.exec(text)?.[1] ?? []);
  return notes.length > 0 ? Number(notes.at(-1)) : undefined;
}
