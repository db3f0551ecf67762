import type { ShaderEntry } from "../../emit/wgsl/shader-program.js";
import { DeviceError } from "../../base/errors.js";

/**
 * Error for a shader that the driver rejects: the kernel, its line (the emitted code notes source lines), the driver's words and the
 * line of WGSL.
 */
export function shaderError(
  device: string,
  kernel: { name: string; file: string },
  { name, source }: ShaderEntry<unknown>,
  message: Pick<GPUCompilationMessage, "message" | "lineNum"> | undefined,
  whole: string | undefined,
): DeviceError {
  const lines = source.split("\n");
  const at = message?.lineNum ?? 0;
  const noted = lines.slice(0, at).findLast((line) => /\/\/ line \d+$/.test(line));
  const line = noted && /\d+$/.exec(noted)![0];
  const location = line ? `${kernel.file}:${line}` : kernel.file;
  const words = (message?.message ?? whole ?? "no reason given").trim().split("\n")[0];
  const text = at > 0 ? `, at "${lines[at - 1].trim()}"` : "";
  return new DeviceError(
    device,
    `the driver refuses the shader "${name}" of kernel "${kernel.name}" (${location}): ${words}${text}`,
    "launch.source() shows the whole; write that line another way, or use another backend",
  );
}
