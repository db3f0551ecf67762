import { LaunchError } from "../base/errors.js";

/* PNG files: rows of red, green and blue, packed by zlib. */

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/**
 * A PNG file of pixels of three bytes, row by row from the top.
 * @throws LaunchError in pages, which lack zlib
 */
export function pngOf(width: number, height: number, pixels: Uint8Array): Uint8Array {
  const zlib = globalThis.process?.getBuiltinModule?.("zlib");
  if (!zlib) throw new LaunchError("a PNG is packed by Node's zlib, which is not here: draw it as SVG");
  const rows = new Uint8Array(height * (1 + 3 * width));
  // Each row begins with the number of its filter: 0, none.
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(3 * width * y, 3 * width * (y + 1)), y * (1 + 3 * width) + 1);
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, width);
  header.setUint32(4, height);
  // Eight bits, colours
  header.setUint8(8, 8);
  header.setUint8(9, 2);
  const parts = [
    Uint8Array.from(SIGNATURE),
    chunk("IHDR", new Uint8Array(header.buffer)),
    chunk("IDAT", zlib.deflateSync(rows)),
    chunk("IEND", new Uint8Array(0)),
  ];
  const file = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, part) => (file.set(part, at), at + part.length), 0);
  return file;
}

/** Length, name, content and their checksum. */
function chunk(name: string, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(content.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, content.length);
  for (let n = 0; n < 4; n++) bytes[4 + n] = name.charCodeAt(n);
  bytes.set(content, 8);
  view.setUint32(8 + content.length, crc32(bytes.subarray(4, 8 + content.length)));
  return bytes;
}

/** The checksum of zlib, bit by bit. */
function crc32(bytes: Uint8Array): number {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return ~sum >>> 0;
}
