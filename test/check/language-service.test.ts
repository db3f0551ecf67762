import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/* The plugin in TypeScript's own server, as editors run it. */

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const KERNEL = `import { f64, kernel, view } from "isoform";
export const k = kernel("k", { x: view(f64) }, ({ x }, i) => {
  x[0] = i;
});
`;

test("tsserver shows mistakes in kernels, and what they cost", { timeout: 240_000 }, async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "isoform-plugin-")));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules/isoform"));
  const options = { strict: true, module: "nodenext", target: "es2022", plugins: [{ name: "isoform/language-service" }] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options }));
  const file = join(folder, "k.ts");
  writeFileSync(file, KERNEL);
  const server = spawn(process.execPath, [
    join(ROOT, "node_modules/typescript/lib/tsserver.js"),
    "--disableAutomaticTypingAcquisition",
    "--pluginProbeLocations",
    folder,
  ]);
  let output = "";
  let wake = (): void => undefined;
  server.stdout.on("data", (bytes: Buffer) => {
    output += bytes.toString();
    wake();
  });
  const send = (seq: number, command: string, args: object): void =>
    void server.stdin.write(`${JSON.stringify({ seq, type: "request", command, arguments: args })}\n`);
  const until = async (is: RegExp): Promise<string> => {
    while (!is.test(output)) await new Promise<void>((resolve) => (wake = resolve));
    return is.exec(output)![0];
  };
  send(1, "open", { file });
  // The plugin's modules come after the first answer, when it asks for diagnostics anew.
  for (let seq = 10; !/several elements of the range may write/.test(output) && seq < 200; seq++) {
    send(seq, "semanticDiagnosticsSync", { file });
    await until(new RegExp(`"request_seq":${seq},`));
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  assert.match(await until(/\{[^{}]*"line":3,"offset":3[^\n]*several elements of the range may write x\[0\][^\n]*/), /"source":"isoform"/);
  send(300, "quickinfo", { file, line: 2, offset: 20 });
  assert.match(await until(/"request_seq":300[^\n]*/), /several elements/);
  server.kill();
});
