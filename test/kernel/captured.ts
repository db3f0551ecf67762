/* What kernels of the tests capture from another module. */
export const G = 9.75;
const twice = (x: number): number => 2 * x;

export const fall = (t: number): number => 0.5 * G * t * t;
export const steps = (x: number): number => twice(twice(x)) + 1;
export { twice };
