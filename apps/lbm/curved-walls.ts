/**
 * Population that comes back from a wall that cuts the way to it at this share: linear interpolation on the side of the fluid, Bouzidi, Firdaouss and
 * Lallemand, Phys. Fluids 13 (2001), eq. (5).
 * @param sent towards the wall
 * @param before sent towards it by the next cell away from the wall
 * @param away sent from this cell away from the wall
 */
export function returned(share: number, sent: number, before: number, away: number): number {
  return share < 0.5 ? before + 2 * share * (sent - before) : away + (sent - away) / (2 * share);
}
