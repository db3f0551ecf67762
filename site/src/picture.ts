import type { Field } from "isoform/grid";

/** Brings pixels onto a canvas of the size of their grid: bytes red, green, blue, opacity. */
export async function paintPicture(picture: Field<"i32", 1, 2>, context: CanvasRenderingContext2D): Promise<void> {
  const pixels = await picture.download();
  const [width, height] = picture.grid.extents;
  const bytes = new Uint8ClampedArray(pixels.buffer as ArrayBuffer, pixels.byteOffset, pixels.byteLength);
  context.putImageData(new ImageData(bytes, width, height), 0, 0);
}
