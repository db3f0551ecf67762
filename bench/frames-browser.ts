import { create, globals } from "webgpu";

/*
 * What an exhibit of the site needs of a browser, in Node: WebGPU under `navigator.gpu`, and a canvas. Frames land in textures that go round as those
 * of a canvas do, and nobody sees them.
 */

/** Textures of a canvas: one is shown, one is next, one is drawn on. */
const ROUND = 3;
const FORMAT = "bgra8unorm";

/** Makes `navigator.gpu` of Dawn, whose clock is not rounded. To be called before a device is opened. */
export function openBrowser(): void {
  const gpu = create(["disable-dawn-features=timestamp_quantization"]);
  gpu.getPreferredCanvasFormat = () => FORMAT;
  Object.assign(globalThis, globals);
  Object.defineProperty(globalThis, "navigator", { configurable: true, value: { gpu } });
}

/** A canvas of so many pixels for a context of WebGPU. */
export function standInCanvas(width: number, height: number): HTMLCanvasElement {
  let textures: GPUTexture[] = [];
  let frame = 0;
  const context = {
    configure({ device, format }: GPUCanvasConfiguration): void {
      const usage = GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.COPY_SRC;
      textures = Array.from({ length: ROUND }, () => device.createTexture({ size: [width, height], format, usage }));
    },
    getCurrentTexture: (): GPUTexture => textures[frame++ % ROUND],
  };
  return { width, height, getContext: (kind: string) => (kind === "webgpu" ? context : null) } as unknown as HTMLCanvasElement;
}
