/** A complex number. */
export interface ComplexNumber {
  readonly re: number;
  readonly im: number;
}

export const complex = (re: number, im = 0): ComplexNumber => ({ re, im });
export const add = (a: ComplexNumber, b: ComplexNumber): ComplexNumber => complex(a.re + b.re, a.im + b.im);
export const sub = (a: ComplexNumber, b: ComplexNumber): ComplexNumber => complex(a.re - b.re, a.im - b.im);
export const mul = (a: ComplexNumber, b: ComplexNumber): ComplexNumber => complex(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
export const times = (a: ComplexNumber, by: number): ComplexNumber => complex(a.re * by, a.im * by);
export const abs = ({ re, im }: ComplexNumber): number => Math.hypot(re, im);
export const exp = ({ re, im }: ComplexNumber): ComplexNumber => complex(Math.exp(re) * Math.cos(im), Math.exp(re) * Math.sin(im));

export function div(a: ComplexNumber, b: ComplexNumber): ComplexNumber {
  const square = b.re * b.re + b.im * b.im;
  return complex((a.re * b.re + a.im * b.im) / square, (a.im * b.re - a.re * b.im) / square);
}
