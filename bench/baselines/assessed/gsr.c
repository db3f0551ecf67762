// LSQR (Paige and Saunders 1982) on the system of gsr.h, with the kernels of the published Gaia solver, eight where there is a global unknown: results the unknowns, and the norms
// of the residual, as the iteration carries it along, and of the known terms.
#include "../gsr.c"
#include "gsr.h"

typedef struct {
  System s;
  double *u, *v, *w, *x, *variance;
  double residual, known;
} Solver;

void release(void *program) {
  Solver *c = program;
  release_system(&c->s);
  free(c->u);
  free(c->v);
  free(c->w);
  free(c->x);
  free(c->variance);
  free(c);
}

void *prepare(int32_t device, const int64_t *sizes, const double *const *inputs) {
  (void)device;
  Solver *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  if (!prepare_system(&c->s, sizes, inputs)) return release(c), NULL;
  c->u = malloc((c->s.rows + c->s.constraints) * sizeof(double));
  double **arrays[] = {&c->v, &c->w, &c->x, &c->variance};
  for (int k = 0; k < 4; k++) *arrays[k] = malloc(c->s.unknowns * sizeof(double));
  return c->u && c->v && c->w && c->x && c->variance ? c : (release(c), NULL);
}

static void scale(double factor, double *restrict x, int64_t n) {
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; i++) x[i] *= factor;
}

static double norm(const double *restrict x, int64_t n) {
  double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

#define TIMED(n, call) (mark = omp_get_wtime(), call, seconds[n] += omp_get_wtime() - mark)

// u += A v
static void forward(Solver *c, double *seconds) {
  const System *s = &c->s;
  double mark;
  TIMED(1, a1Astro(s->astro, s->star, c->v, c->u, s->rows));
  TIMED(2, a1Att(s->att, s->knot, c->v + s->attitude, c->u, s->rows, s->knots));
  TIMED(3, a1Instr(s->instr, s->column, c->v + s->instrument, c->u, s->rows));
  if (s->globals) TIMED(7, a1Glob(s->glob, c->v + s->global, c->u, s->rows));
#pragma omp parallel for schedule(static)
  for (int64_t r = 0; r < s->constraints; r++) {
    double sum = 0;
    for (int64_t e = s->rowStart[r]; e < s->rowStart[r + 1]; e++) sum += s->values[e] * c->v[s->instrument + s->index[e]];
    c->u[s->rows + r] += sum;
  }
}

// v += A^T u
static void transpose(Solver *c, double *seconds) {
  const System *s = &c->s;
  double mark;
  TIMED(4, a2Astro(s->astro, s->starRow, c->u, c->v, s->stars));
  TIMED(5, a2Att(s->att, s->knot, c->u, c->v + s->attitude, s->rows, s->knots));
  TIMED(6, a2Instr(s->instr, s->column, c->u, c->v + s->instrument, s->rows, s->columns));
  if (s->globals) TIMED(8, a2Glob(s->glob, c->u, c->v + s->global, s->rows));
#pragma omp parallel for schedule(static)
  for (int64_t j = 0; j < s->columns; j++) {
    double sum = 0;
    for (int64_t e = s->columnStart[j]; e < s->columnStart[j + 1]; e++) sum += s->transposed[e] * c->u[s->rows + s->row[e]];
    c->v[s->instrument + j] += sum;
  }
}

int32_t run(void *program, int64_t iterations, double *seconds) {
  Solver *c = program;
  const int64_t m = c->s.rows + c->s.constraints, n = c->s.unknowns;
  double *restrict v = c->v, *restrict w = c->w, *restrict x = c->x, *restrict variance = c->variance;
  memcpy(c->u, c->s.b, m * sizeof(double));
  for (int64_t j = 0; j < n; j++) v[j] = x[j] = variance[j] = 0;
  double beta = c->known = norm(c->u, m);
  scale(1 / beta, c->u, m);
  transpose(c, seconds);
  double alpha = norm(v, n);
  scale(1 / alpha, v, n);
  memcpy(w, v, n * sizeof(double));
  double phi_bar = beta, rho_bar = alpha;
  const int quantities = c->s.globals ? 9 : 7;
  for (int k = 0; k < quantities; k++) seconds[k] = 0;
  const double start = omp_get_wtime();
  for (int64_t k = 0; k < iterations; k++) {
    scale(-alpha, c->u, m);
    forward(c, seconds);
    beta = norm(c->u, m);
    scale(1 / beta, c->u, m);
    scale(-beta, v, n);
    transpose(c, seconds);
    alpha = norm(v, n);
    const double rho = hypot(rho_bar, beta), cosine = rho_bar / rho, sine = beta / rho;
    const double step = cosine * phi_bar / rho, back = sine * alpha / rho;
    rho_bar = -cosine * alpha;
    phi_bar *= sine;
#pragma omp parallel for simd schedule(static)
    for (int64_t j = 0; j < n; j++) {
      const double old = w[j], d = old / rho, direction = v[j] / alpha;
      x[j] += step * old;
      variance[j] += d * d;
      v[j] = direction;
      w[j] = direction - back * old;
    }
  }
  seconds[0] = omp_get_wtime() - start;
  for (int k = 0; k < quantities; k++) seconds[k] /= iterations;
  c->residual = phi_bar;
  return 0;
}

int32_t results(void *program, double *const *outputs) {
  const Solver *c = program;
  for (int64_t j = 0; j < c->s.unknowns; j++) outputs[0][j] = c->x[j] * c->s.p[j];
  outputs[1][0] = c->residual;
  outputs[1][1] = c->known;
  return 0;
}

const char *problem(void) { return "there is not enough memory"; }
