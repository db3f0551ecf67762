/** Published results for a cylinder across an unbounded stream: mean drag coefficient, greatest lift coefficient and Strouhal number. */
export interface PublishedCylinder {
  readonly reynolds: number;
  readonly drag?: number;
  readonly lift?: number;
  readonly strouhal?: number;
  readonly source: string;
}

/**
 * Steady wakes: Dennis and Chang, J. Fluid Mech. 42 (1970). Vortex streets: Liu, Zheng and Sung, J. Comput. Phys. 139 (1998), of two dimensions; Park, Kwon
 * and Choi, KSME Int. J. 12 (1998).
 */
export const PUBLISHED_CYLINDERS: readonly PublishedCylinder[] = [
  { reynolds: 20, drag: 2.045, source: "Dennis and Chang (1970)" },
  { reynolds: 40, drag: 1.522, source: "Dennis and Chang (1970)" },
  { reynolds: 100, drag: 1.35, lift: 0.339, strouhal: 0.164, source: "Liu, Zheng and Sung (1998)" },
  { reynolds: 100, drag: 1.33, lift: 0.33, strouhal: 0.165, source: "Park, Kwon and Choi (1998)" },
  { reynolds: 200, drag: 1.31, lift: 0.69, strouhal: 0.192, source: "Liu, Zheng and Sung (1998)" },
];

/** Published results at a Reynolds number: 20, 40, 100 or 200; none at others. */
export const publishedCylinders = (reynolds: number): readonly PublishedCylinder[] =>
  PUBLISHED_CYLINDERS.filter((each) => each.reynolds === reynolds);
