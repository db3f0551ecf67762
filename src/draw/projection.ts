/** Place on the plane: x from -2 to 2, y from -1 to 1. */
export type PlanePoint = readonly [x: number, y: number];

/**
 * Projects a direction by the equal-area projection of Hammer and Aitoff (E. Hammer, Petermanns Mitteilungen 38, 1892): the sphere becomes an ellipse of
 * axes 4 and 2, on which a unit of area is 2 steradians.
 * @param longitude radians from the middle of the map, -pi to pi
 * @param latitude radians, -pi/2 to pi/2
 */
export function hammerAitoff(longitude: number, latitude: number): PlanePoint {
  const cosine = Math.cos(latitude);
  const length = Math.sqrt(1 + cosine * Math.cos(longitude / 2));
  return [(2 * cosine * Math.sin(longitude / 2)) / length, Math.sin(latitude) / length];
}

/** Direction that `hammerAitoff` projects to a place, in radians; undefined outside the ellipse. */
export function fromHammerAitoff(x: number, y: number): readonly [longitude: number, latitude: number] | undefined {
  const square = 1 - (x * x) / 8 - (y * y) / 2;
  if (!(square >= 0.5)) return undefined;
  const z = Math.sqrt(2 * square);
  return [2 * Math.atan2(z * x, 4 * square - 2), Math.asin(Math.max(-1, Math.min(1, z * y)))];
}
