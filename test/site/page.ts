import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";

/* The page as it is built, in a real browser. */

export const root = fileURLToPath(new URL("../../../", import.meta.url));

const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path));
const tools = await Promise.all([import("vite"), import("playwright-core")]).catch(() => undefined);

/** Why the page cannot be tested here; false where it can. */
export const skip = !chromium ? "no Chromium found" : !tools ? "vite and playwright-core are not installed" : false;

/** WebGPU on the CPU. */
const SOFTWARE = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
/** The same for all that is drawn, which is slow, but shows canvases of WebGPU. */
export const DRAWING = [...SOFTWARE, "--enable-features=Vulkan", "--use-vulkan=swiftshader", "--use-angle=vulkan"];

/** Headers of pages with shared memory. */
export const ISOLATED = { "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp" };

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

export interface VisitOptions {
  /** Of the server. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What the address has behind the page. */
  readonly at?: string;
  readonly width?: number;
  readonly colorScheme?: "light" | "dark";
  /** Runs in the page before its own scripts. */
  readonly before?: () => void;
}

/** The built page, with a browser and servers of its own. */
export class Site {
  private readonly servers: Server[] = [];
  private context: BrowserContext | undefined;

  private constructor(
    private readonly folder: string,
    private readonly browser: Browser,
  ) {}

  static async open(flags: readonly string[] = SOFTWARE): Promise<Site> {
    const [{ build }, { chromium: launcher }] = tools!;
    const folder = mkdtempSync(join(tmpdir(), "isoform-site-"));
    await build({ root: join(root, "site"), build: { outDir: folder, emptyOutDir: true }, logLevel: "error" });
    return new Site(folder, await launcher.launch({ executablePath: chromium, args: ["--no-sandbox", ...flags] }));
  }

  async close(): Promise<void> {
    await this.browser.close();
    for (const server of this.servers) server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get assets(): string {
    return join(this.folder, "assets");
  }

  /** A page in place of the one before, from a server of its own, and the errors that it makes. */
  async visit({ headers = ISOLATED, at = "", width = 1280, colorScheme = "light", before }: VisitOptions = {}): Promise<[Page, string[]]> {
    await this.context?.close();
    this.context = await this.browser.newContext({ viewport: { width, height: 844 }, colorScheme });
    const page = await this.context.newPage();
    // A page that hangs never comes so far; the others may take their time.
    page.setDefaultTimeout(180_000);
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(String(error.stack)));
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    if (before) await page.addInitScript(before);
    await page.goto((await this.serve(headers)) + at);
    return [page, errors];
  }

  private async serve(headers: Readonly<Record<string, string>>): Promise<string> {
    const server = createServer((request, response) => {
      const path = normalize(new URL(request.url!, "http://localhost").pathname);
      const file = join(this.folder, path === "/" ? "index.html" : path);
      if (!existsSync(file)) return void response.writeHead(404).end();
      response.writeHead(200, { ...headers, "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
    });
    this.servers.push(server);
    await new Promise<void>((ready) => server.listen(0, ready));
    return `http://localhost:${(server.address() as AddressInfo).port}/`;
  }
}

/** Waits for so many frames of the exhibit `title`. */
export async function frames(page: Page, title: string, count: number): Promise<void> {
  await page.waitForFunction(
    ([title, count]) =>
      document.querySelector("h2")?.textContent === title && Number(document.querySelector("canvas")?.dataset.frames ?? 0) >= +count,
    [title, String(count)] as const,
  );
}

/** The colours of the canvas as one sees it, the byte of red lowest, and how many pixels have them. */
export async function colours(page: Page): Promise<ReadonlyMap<number, number>> {
  const shot = (await page.locator("canvas").screenshot()).toString("base64");
  const seen = await page.evaluate(async (shot) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${shot}`)).blob());
    const context = new OffscreenCanvas(image.width, image.height).getContext("2d")!;
    context.drawImage(image, 0, 0);
    const counts = new Map<number, number>();
    for (const pixel of new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer))
      counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
    return [...counts];
  }, shot);
  return new Map(seen);
}

/** Takes a picture of the page, for people, where SITE_SHOTS names a folder. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (process.env.SITE_SHOTS) await page.screenshot({ path: join(process.env.SITE_SHOTS, `${name}.png`), fullPage: true });
}

export const choose = (page: Page, link: string): Promise<void> => page.getByRole("link", { name: link }).click();
