type Colour = readonly [red: number, green: number, blue: number];

const LENGTH = 256;

/** Evenly spaced between the colours, as 256 pixels in the byte order of a canvas. */
function palette(colours: readonly Colour[]): readonly number[] {
  return Array.from({ length: LENGTH }, (_, n) => {
    const place = (n / (LENGTH - 1)) * (colours.length - 1);
    const first = Math.min(Math.floor(place), colours.length - 2);
    const [r, g, b] = colours[first].map((from, k) => Math.round(from + (place - first) * (colours[first + 1][k] - from)));
    return pixel(r, g, b);
  });
}

const pixel = (red: number, green: number, blue: number): number => (255 << 24) | (blue << 16) | (green << 8) | red;

/** For values around 0, which is dark. */
export const DIVERGING = palette([
  [190, 235, 255],
  [40, 130, 220],
  [12, 40, 90],
  [14, 16, 24],
  [100, 28, 18],
  [235, 105, 35],
  [255, 235, 180],
]);

/** For values from 0. */
export const GLOWING = palette([
  [14, 16, 24],
  [60, 20, 90],
  [170, 45, 90],
  [240, 120, 50],
  [255, 215, 110],
  [255, 252, 230],
]);

/** Colours after a palette on a map of the sky: the Sun, the spin axis, outside. */
export const SKY_MARKS = [pixel(255, 214, 40), pixel(255, 255, 255), pixel(36, 40, 52)];

/** Colour of obstacles in the stream. */
export const OBSTACLE = pixel(150, 160, 170);
