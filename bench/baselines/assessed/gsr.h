// The system of the Gaia solver on the host, its columns scaled to unit norm: sizes {stars, rows, knots, columns, constraints, their entries,
// global unknowns: 0 or 1};
// inputs the coefficients [rows][5], [rows][12] and [rows][6], each row's first knot, its columns [rows][6], the first row of each star and
// the end, then of the constraints the first entry of each and the end, and the columns and values of the entries, and where there is a global
// unknown its coefficients [rows]. Unknowns are [stars][5], [3][knots], [columns] and the global one; known terms are the sums of rows.
#include "program.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t stars, rows, knots, columns, constraints, entries, globals;
  // Where the sections of attitude, instrument and global unknown begin, and how many unknowns there are.
  int64_t attitude, instrument, global, unknowns;
  double *astro, *att, *instr, *glob;
  int32_t *star, *knot, *column, *starRow;
  // The constraints by row, and by column.
  int32_t *rowStart, *index, *columnStart, *row;
  double *values, *transposed;
  // Known terms, and what the columns were multiplied by.
  double *b, *p;
} System;

static void release_system(System *s) {
  void *arrays[] = {s->astro, s->att, s->instr, s->glob, s->star, s->knot, s->column, s->starRow, s->rowStart, s->index, s->columnStart, s->row,
                    s->values, s->transposed, s->b, s->p};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) free(arrays[k]);
}

static double *copy_of(const double *from, int64_t count) {
  double *to = (double *)malloc(count * sizeof(double));
  if (to) memcpy(to, from, count * sizeof(double));
  return to;
}

static int32_t *integers(const double *from, int64_t count) {
  int32_t *to = (int32_t *)malloc(count * sizeof(int32_t));
  for (int64_t i = 0; to && i < count; i++) to[i] = (int32_t)from[i];
  return to;
}

// The entries of the constraints, ordered by column.
static int transpose_constraints(System *s) {
  int32_t *next = (int32_t *)calloc(s->columns + 1, sizeof(int32_t));
  s->columnStart = (int32_t *)calloc(s->columns + 1, sizeof(int32_t));
  s->row = (int32_t *)malloc(s->entries * sizeof(int32_t));
  s->transposed = (double *)malloc(s->entries * sizeof(double));
  if (!next || !s->columnStart || !s->row || !s->transposed) return free(next), 0;
  for (int64_t e = 0; e < s->entries; e++) s->columnStart[s->index[e] + 1]++;
  for (int64_t c = 0; c < s->columns; c++) s->columnStart[c + 1] += s->columnStart[c];
  memcpy(next, s->columnStart, (s->columns + 1) * sizeof(int32_t));
  for (int64_t r = 0; r < s->constraints; r++)
    for (int64_t e = s->rowStart[r]; e < s->rowStart[r + 1]; e++) {
      const int32_t to = next[s->index[e]]++;
      s->row[to] = (int32_t)r;
      s->transposed[to] = s->values[e];
    }
  return free(next), 1;
}

// For all coefficients of the observations, at their unknown.
#define EACH_COEFFICIENT(s, i, a, unknown, work)                                                                                   \
  for (int64_t i = 0; i < (s)->rows; i++) {                                                                                        \
    for (int k = 0; k < ASTRO; k++) {                                                                                              \
      double *a = &(s)->astro[ASTRO * i + k];                                                                                      \
      const int64_t unknown = (int64_t)ASTRO * (s)->star[i] + k;                                                                   \
      work;                                                                                                                        \
    }                                                                                                                              \
    for (int k = 0; k < ATT; k++) {                                                                                                \
      double *a = &(s)->att[ATT * i + k];                                                                                          \
      const int64_t unknown = (s)->attitude + k / 4 * (s)->knots + (s)->knot[i] + k % 4;                                           \
      work;                                                                                                                        \
    }                                                                                                                              \
    for (int k = 0; k < INSTR; k++) {                                                                                              \
      double *a = &(s)->instr[INSTR * i + k];                                                                                      \
      const int64_t unknown = (s)->instrument + (s)->column[INSTR * i + k];                                                        \
      work;                                                                                                                        \
    }                                                                                                                              \
    if ((s)->globals) {                                                                                                            \
      double *a = &(s)->glob[i];                                                                                                   \
      const int64_t unknown = (s)->global;                                                                                         \
      work;                                                                                                                        \
    }                                                                                                                              \
  }

// 1, or 0 where memory is short.
static int prepare_system(System *s, const int64_t *sizes, const double *const *inputs) {
  memset(s, 0, sizeof *s);
  s->stars = sizes[0], s->rows = sizes[1], s->knots = sizes[2], s->columns = sizes[3], s->constraints = sizes[4], s->entries = sizes[5], s->globals = sizes[6];
  s->attitude = ASTRO * s->stars, s->instrument = s->attitude + 3 * s->knots, s->global = s->instrument + s->columns;
  s->unknowns = s->global + s->globals;
  s->astro = copy_of(inputs[0], ASTRO * s->rows);
  s->att = copy_of(inputs[1], ATT * s->rows);
  s->instr = copy_of(inputs[2], INSTR * s->rows);
  if (s->globals) s->glob = copy_of(inputs[9], s->rows);
  s->knot = integers(inputs[3], s->rows);
  s->column = integers(inputs[4], INSTR * s->rows);
  s->starRow = integers(inputs[5], s->stars + 1);
  s->rowStart = integers(inputs[6], s->constraints + 1);
  s->index = integers(inputs[7], s->entries);
  s->values = copy_of(inputs[8], s->entries);
  s->star = (int32_t *)malloc(s->rows * sizeof(int32_t));
  s->b = (double *)calloc(s->rows + s->constraints, sizeof(double));
  s->p = (double *)calloc(s->unknowns, sizeof(double));
  const int complete = s->astro && s->att && s->instr && (s->glob || !s->globals) && s->knot && s->column && s->starRow && s->rowStart && s->index && s->values &&
                       s->star && s->b && s->p;
  if (!complete) return 0;
  for (int64_t star = 0; star < s->stars; star++)
    for (int64_t i = s->starRow[star]; i < s->starRow[star + 1]; i++) s->star[i] = (int32_t)star;
  EACH_COEFFICIENT(s, i, a, unknown, (s->b[i] += *a, s->p[unknown] += *a * *a))
  for (int64_t r = 0; r < s->constraints; r++)
    for (int64_t e = s->rowStart[r]; e < s->rowStart[r + 1]; e++)
      s->b[s->rows + r] += s->values[e], s->p[s->instrument + s->index[e]] += s->values[e] * s->values[e];
  for (int64_t j = 0; j < s->unknowns; j++) s->p[j] = 1 / sqrt(s->p[j]);
  EACH_COEFFICIENT(s, i, a, unknown, *a *= s->p[unknown])
  for (int64_t e = 0; e < s->entries; e++) s->values[e] *= s->p[s->instrument + s->index[e]];
  return transpose_constraints(s);
}
