import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const browser = ["chromium", "chromium-browser", "google-chrome"].find((name) => spawnSync(name, ["--version"]).status === 0);
const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Why pages cannot be opened here; false where they can. */
export const noBrowser = browser ? false : "no Chromium found";

export interface PageOptions {
  /** Isolated pages have shared memory. */
  isolated: boolean;
  /** The page's Content-Security-Policy. */
  policy?: string;
  /** Of the browser, beyond those of every page. */
  flags: readonly string[];
}

/** A page whose script `body` may import the build; it calls `post` with what `visit` gives, or with its error. */
export const pageOf = (body: string): string => `<!doctype html>
<script type="importmap">${importMap()}</script>
<script type="module">
  const post = (value) => fetch("/result", { method: "POST", body: JSON.stringify(value) });
  try {
${body}
  } catch (error) {
    await post({ error: error.stack });
  }
</script>`;

/** What the condition `browser` says in package.json. */
function importMap(): string {
  const { imports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { imports: Record<string, { browser: string }> };
  return JSON.stringify({ imports: Object.fromEntries(Object.entries(imports).map(([name, { browser }]) => [name, browser.slice(1)])) });
}

/** Opens the page in a browser of its own and waits for what it posts. */
export async function visit<Report>(page: string, { isolated, policy, flags }: PageOptions): Promise<Report> {
  const headers = {
    ...(isolated && { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" }),
    ...(policy && { "Content-Security-Policy": policy }),
  };
  const profile = mkdtempSync(join(tmpdir(), "isoform-browser-"));
  let process: ChildProcess | undefined;
  const server = createServer();
  try {
    return await new Promise((resolve, reject) => {
      server.on("request", (request, response) => {
        const path = join(root, request.url!);
        if (request.method === "POST") {
          let body = "";
          request.on("data", (piece) => (body += piece));
          request.on("end", () => resolve(JSON.parse(body) as Report));
          response.end();
        } else if (request.url === "/") {
          response.writeHead(200, { ...headers, "Content-Type": "text/html" }).end(page);
        } else if (existsSync(path)) {
          const type = /\.m?js$/.test(extname(path)) ? "text/javascript" : "application/octet-stream";
          response.writeHead(200, { ...headers, "Content-Type": type }).end(readFileSync(path));
        } else response.writeHead(404).end();
      });
      server.listen(0, () => {
        const url = `http://localhost:${(server.address() as AddressInfo).port}/`;
        process = spawn(browser!, ["--headless", "--no-sandbox", ...flags, `--user-data-dir=${profile}`, url], {
          stdio: "ignore",
          detached: true,
        });
        process.on("error", reject);
        setTimeout(() => reject(new Error("the browser did not answer")), 240_000).unref();
      });
    });
  } finally {
    const ended = process && new Promise((resolve) => process!.on("exit", resolve));
    if (process?.pid) killGroup(process.pid);
    await ended;
    server.closeAllConnections();
    server.close();
    try {
      rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    } catch {
      // a helper of the dying browser still wrote there; it is a temporary folder
    }
  }
}

/** Ends the browser and the helpers that it started, which would go on writing. */
function killGroup(leader: number): void {
  try {
    globalThis.process.kill(-leader, "SIGKILL");
  } catch {
    // it has ended already
  }
}
