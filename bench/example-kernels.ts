import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Kernel } from "isoform";

/** The kernels of a program in examples/, by the names of their constants: of its text what comes before it opens a device. */
export async function kernelsOf(example: string): Promise<Record<string, Kernel<never>>> {
  const beside = (name: string) => new URL(`../examples/${name}.js`, import.meta.url);
  const text = readFileSync(beside(example), "utf8");
  const head = text.slice(0, text.indexOf("const device = await open("));
  const names = [...head.matchAll(/^const (\w+) = (?:kernel|teamKernel)\(/gm)].map(([, name]) => name);
  const part = beside(`${example}.kernels`);
  writeFileSync(part, `${head}export { ${names.join(", ")} };\n`);
  try {
    return (await import(part.href)) as Record<string, Kernel<never>>;
  } finally {
    rmSync(part);
  }
}
