import { f32, i32, table } from "isoform";
import { skeleton } from "isoform/skeleton";
import type { Look, Picture } from "./look.js";

/** A picture of a field on a canvas with one pixel for each cell. On WebGPU it never leaves the GPU. */
export async function pictureOf(canvas: HTMLCanvasElement, look: Look): Promise<Picture> {
  const [{ device }] = look.grid.set.locals;
  if (device.backend !== "webgpu") return hostPicture(canvas, look);
  return (await import("./gpu-picture.js")).gpuPicture(canvas, device, look);
}

/** A container looks the colours up, and the canvas takes the bytes. */
function hostPicture(canvas: HTMLCanvasElement, look: Look): Picture {
  // The colours of cells are found in the same way whatever the number of axes.
  const { grid, values, zero, scale, colours } = look as Look<2>;
  const context = canvas.getContext("2d")!;
  const pixels = grid.field("pixels", i32);
  const colour = grid.container(
    "colour",
    { values, pixels, linear: table(f32, [zero, scale]), palette: table(i32, colours), last: table(i32, [colours.length - 1]) },
    ({ values, pixels, linear, palette, last }, c) => {
      pixels[c] = palette[Math.min(last[0], Math.max(0, (linear[0] + linear[1] * values[c]) | 0))];
    },
  );
  const plan = skeleton(grid.set, "colours", [colour]);
  return {
    async paint() {
      plan.submit(1);
      const { buffer, byteOffset, byteLength } = await pixels.download();
      const bytes = new Uint8ClampedArray(buffer as ArrayBuffer, byteOffset, byteLength);
      context.putImageData(new ImageData(bytes, canvas.width, canvas.height), 0, 0);
    },
    free() {
      plan.free();
      pixels.free();
    },
  };
}
