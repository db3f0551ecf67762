/** A complex number. */
export interface Complex {
  readonly re: number;
  readonly im: number;
}

export const complex = (re: number, im = 0): Complex => ({ re, im });
export const add = (a: Complex, b: Complex): Complex => complex(a.re + b.re, a.im + b.im);
export const sub = (a: Complex, b: Complex): Complex => complex(a.re - b.re, a.im - b.im);
export const mul = (a: Complex, b: Complex): Complex => complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
export const times = (a: Complex, by: number): Complex => complex(a.re * by, a.im * by);
export const abs = ({ re, im }: Complex): number => Math.hypot(re, im);
export const exp = ({ re, im }: Complex): Complex => complex(Math.exp(re) * Math.cos(im), Math.exp(re) * Math.sin(im));

export function div(a: Complex, b: Complex): Complex {
  const square = b.re * b.re + b.im * b.im;
  return complex((a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square);
}
