/* Numbers: what Fortran's expressions mean, by gfortran's bits. */
import { test } from "node:test";
import { compareWithGfortran, needsGfortran } from "./gfortran.js";

const x = Float64Array.of(0.1, -0.1, 0.5, -0.5, 1.5, 2.5, -2.5, -3.7, 0.49999999999999994, 7.25, -0, 0, 1e3, 3);
const k = Int32Array.of(1, -1, 2, -2, 3, -3, 7, -7, 5, 4, 12, 1, 6, -5);
const inputs = { x, k };
const backends = ["js", "wasm"];

const EXPRESSIONS: readonly string[] = [
  // Literals: f32 ones are evaluated in f32, and widened.
  "-1./3.",
  "0.1 + x(i)",
  "0.1d0 + x(i)",
  "1.1_rk * x(i)",
  "0.1 * 3",
  "1e-3 / 7",
  "real(x(i)) + 0.1",
  "real(x(i), rk) + real(k(i), 4) / 3",
  "dble(0.3) * x(i)",
  // Integers.
  "k(i) / 2",
  "(-k(i)) / 3",
  "mod(k(i), 3)",
  "mod(-k(i), 3)",
  "modulo(k(i), 3)",
  "modulo(k(i), -3)",
  "mod(x(i), 0.75d0)",
  "modulo(x(i), 0.75d0)",
  "modulo(x(i), -0.75d0)",
  "int(x(i))",
  "sign(1.0d0, real(int(x(i)), rk))",
  "nint(x(i))",
  "floor(x(i)) + 10 * ceiling(x(i))",
  "aint(x(i)) + anint(x(i))",
  "k(i) * 65537 * 65537",
  "1 / k(i)",
  "7 / 2 * 2.0",
  "iand(k(i), 6) + ior(k(i), 8) * ieor(k(i), 3)",
  // Bits, shifted by up to all 32 places.
  "ibset(k(i), 3) + 100 * ibclr(k(i), 0) + ibits(k(i), 1, 5)",
  "merge(1, 2, btest(k(i), 2)) + not(k(i))",
  "ishft(k(i), 2) + ishft(k(i), -28) + ishft(k(i), 32)",
  "ishft(k(i), (modulo(k(i), 3) - 1) * 32)",
  "shiftl(k(i), 3) + shiftr(k(i), 30) + shiftr(k(i), 32) + ibits(k(i), 0, 32)",
  "shiftl(k(i), 30 + modulo(k(i), 3)) + shiftr(k(i), 30 + modulo(k(i), 3))",
  // Functions by their specific names.
  "amax1(1.5, real(k(i))) + dmin1(x(i), 2d0) + max0(k(i), 3) - dmod(x(i), 0.75d0) + idint(x(i))",
  "dfloat(k(i)) / 3 + min0(k(i), 2) + amod(real(x(i)), 0.5)",
  // Powers.
  "x(i)**2 + x(i)**3",
  "x(i)**4",
  "x(i)**5 - x(i)**7",
  "-x(i)**2",
  "2**3**2 + x(i)",
  "(x(i) + 2)**(-2)",
  "x(i)**k(i)",
  "(x(i) + 0.3d0)**(-k(i))",
  "k(i)**3",
  "2.0**k(i)",
  "x(i)**0",
  // Signs, orders, choices.
  "sign(3.0d0, x(i))",
  "1 / sign(1.0d0, x(i))",
  "sign(2, k(i)) + sign(k(i), -1)",
  "abs(x(i)) + abs(k(i))",
  "max(x(i), 1d0, 0.5d0) + min(k(i), 2, 3)",
  "merge(1.5d0, x(i), x(i) > 1)",
  "dim(x(i), 1.0d0)",
  // No other order of operations.
  "x(i) + 1e16 - 1e16",
  "x(i) + (1e16 - 1e16)",
  "x(i) / 3 * 3",
  "x(i) * (3 / 7.0d0)",
  "1.5 - k(i) - x(i)",
  "sqrt(abs(x(i)))",
  "sqrt(2.) * x(i)",
  "huge(1) + tiny(1.0d0) + epsilon(1.0)",
];

test("expressions have gfortran's bits", needsGfortran, async () => {
  await compareWithGfortran(new Map(EXPRESSIONS.map((e, n) => [`e${n}`, `y(i) = ${e}`])), inputs, backends);
});

const BODIES: Readonly<Record<string, string>> = {
  "a real assigned to an integer truncates": "j = x(i) * 2\ny(i) = j",
  "a double assigned to a real rounds": "s = x(i)\ny(i) = s",
  "a loop's trips are counted before it runs": "m = 3\nl = 0\ndo j = 1, m\nm = 10\nl = l + j\nend do\ny(i) = l * 100 + m",
  "a loop's variable is known behind it": "do j = 1, abs(k(i)), 2\nend do\ny(i) = j",
  "and where the loop is left": "do j = 1, 10\nif (j > abs(k(i))) exit\nend do\ny(i) = j",
  "a loop may run backwards, or not at all": "l = 0\ndo j = k(i), 1, -2\nl = l * 10 + j\nend do\ndo j = 5, 1\nl = -1\nend do\ny(i) = l",
  "a loop may end short of the greatest integer by less than its step":
    "l = 0\nm = huge(m)\ndo j = m - 3*abs(k(i)), m, 2\nl = l + 1\nend do\ndo j = -m - 1 + abs(k(i)), -m - 1, -2\nl = l + 100\nend do\ny(i) = l",
  "trips may be more than the greatest integer":
    "l = 0\nm = huge(m)\ndo j = -5 - abs(k(i)), m, 1000000000\nl = l + 1\nend do\ny(i) = l + 0*j",
  "a step may be a variable": "m = k(i)\nl = 0\ndo j = 1, 20 * m, m\nl = l + j\nif (l > 1000) exit\nend do\ny(i) = l",
  "cycle of the parallel loop itself ends the element":
    "y(i) = 1\nif (x(i) > 1) cycle\nif (k(i) > 0) then\ny(i) = 2\ncycle\nend if\ny(i) = 3",
  "cycle goes on": "y(i) = 0\ndo j = 1, 6\nif (mod(j, 2) == 0) cycle\ny(i) = y(i) + j\nend do",
  "named loops are left from inside":
    "l = 0\nouter: do j = 1, 5\ndo m = 1, 5\nif (m * j > abs(k(i))) exit outer\nif (m == j) cycle outer\nl = l + m\nend do\nend do outer\ny(i) = l",
  "if, else if, else":
    "if (x(i) > 1 .and. k(i) > 0) then\ny(i) = 1\nelse if (x(i) < 0 .or. .not. k(i) == 1) then\ny(i) = 2\nelse\ny(i) = 3\nend if",
  "select has values, ranges and a default":
    "select case (k(i))\ncase (1, 3)\ny(i) = 1\ncase (:-2)\ny(i) = 2\ncase (4:6)\ny(i) = 3\ncase default\ny(i) = 4\nend select",
  "do while": "a = abs(x(i)) + 1\nj = 0\ndo while (a < 100)\na = a * 1.7d0\nj = j + 1\nend do\ny(i) = j",
  "a loop without an end is left": "j = 0\ndo\nj = j + 1\nif (j * j > abs(k(i)) * 5) exit\nend do\ny(i) = j",
  "logical values": "q = x(i) > 0 .eqv. k(i) > 0\nif (q .neqv. k(i) == 1) then\ny(i) = 1\nelse\ny(i) = 0\nend if",
};

test("statements do what gfortran's do", needsGfortran, async () => {
  await compareWithGfortran(new Map(Object.values(BODIES).map((body, n) => [`s${n}`, body])), inputs, backends);
});

test("functions of the library are within 4 ulp", needsGfortran, async () => {
  const functions = ["exp", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh"].slice(0, 8);
  const more = [
    "log(abs(x(i)) + 1)",
    "log10(abs(x(i)) + 2)",
    "acos(tanh(x(i)))",
    "asin(tanh(x(i)))",
    "atan2(x(i), 2.5d0)",
    "(abs(x(i)) + 1)**0.3d0",
  ];
  const bodies = [...functions.map((name) => `${name}(tanh(x(i)))`), ...more].map((e) => `y(i) = ${e}`);
  await compareWithGfortran(new Map(bodies.map((body, n) => [`f${n}`, body])), inputs, backends, () => 2e-15);
});

const TABLES = `
    integer, parameter :: two = 2
    real(8), parameter :: weights(0:3) = [1.0d0, 2.0d0, 4.0d0, 8.0d0]
    integer, parameter :: table(two, -1:1) = reshape((/ 1, 2, 3, 4, 5, 6 /), [2, 3])`;
/** A routine with constant arrays, and one that is called in its kernel. */
const routine = (name: string, body: string): string => `
  subroutine ${name}(n, x, k, y)
    integer, intent(in) :: n
    real(8), device :: x(n), y(n)
    integer, device :: k(n)
    integer :: i
    real(8) :: a, b ${TABLES}
    !$acc parallel loop private(a, b)
    do i = 1, n
      ${body}
    end do
  contains
    subroutine flux(u, speed, flow, sound)
      real(8), intent(in) :: u
      real(8), intent(in), optional :: speed
      real(8), intent(out) :: flow
      real(8), intent(out), optional :: sound
      flow = u*u
      if (present(speed)) flow = flow*speed
      if (present(sound)) then
        sound = -u
      else
        flow = flow + 1
      end if
    end subroutine
  end subroutine`;
const ROUTINES: Readonly<Record<string, string>> = {
  "constant arrays start where they are declared to": "y(i) = weights(modulo(k(i), 4)) + 10*weights(0)",
  "tables are reshaped": "y(i) = table(1, 0) + 10*table(two, modulo(k(i), 3) - 1) + 100*sum(table(:, -1))",
  "arguments are there": "call flux(x(i), 2.0d0, a, b)\ny(i) = a + 10*b",
  "or not": "call flux(x(i), flow=a)\ncall flux(x(i), flow=b, speed=x(i))\ny(i) = a + 10*b",
};

test("constant arrays and optional arguments are gfortran's", needsGfortran, async () => {
  await compareWithGfortran(new Map(Object.values(ROUTINES).map((body, n) => [`r${n}`, routine(`r${n}`, body)])), inputs, backends);
});
