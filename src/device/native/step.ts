import type { Loader } from "./library.js";

/*
 * A step: a function in C and its argument struct. A launch on several threads is timed, with all of them and with one, and takes those with which
 * it is faster: to bring threads together takes longer than much of the work of a coarse grid. A few runs of each tell, and a few more now and
 * then. Its shares are such that the bits of its results are the same.
 *
 * Other programs' pressure is felt as stalls: runs on several threads that take longer than they usually do, since a thread waits for a core. Then
 * launches that take less time alone than a stall run on one thread for a while; pool-pressure.ts does the same for `js` and `wasm`.
 */

/** Members of `struct step`, each of 8 bytes. */
const MEMBERS = 8;
/** Runs on several threads before the first on one. */
const FIRST = 4n;

/** Nanoseconds are numbers of type double. */
export const STEP_SOURCE = `struct step {
  void (*run)(void *args);
  void *args;
  /* Member of \`args\` with the number of threads; null if that is not to be changed. */
  int64_t *workers;
  /* Usual times on several threads and on one; 0 if unknown. */
  double shared, alone;
  /* Runs, the first of the next few that try what is slower, and whether these are on one thread. */
  int64_t runs, next, trial;
};

enum { TRIES = 3, MEMORY = 16, SELDOM = 200 };
/* Above the first no launch is timed on one thread to learn; stalls are longer than the second on average. */
static const double LONG = 2e6, STALL = 1e9 / 16 / 1000;
/* Rest from several threads, at first and at most. */
static const double SHORT_REST = 20e6, LONG_REST = 1e9;

/* Stalls of this thread's runs: their mean over the last runs, the longest mean, and the rest that follows. */
static _Thread_local struct {
  double mean, longest, rest, until;
} stalls;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * t.tv_sec + t.tv_nsec;
}

/* A usual time after one more run: stalls are seldom, and count little. */
static double usual(double known, double took)
{
  if (known == 0 || took < known / 2) return took;
  const double change = took - known;
  return known + (change > known / 16 ? known / 16 : change / 8);
}

/* The time on one thread, or more than that. */
static double most_alone(const struct step *step, int64_t workers)
{
  return step->alone > 0 ? step->alone : workers * step->shared;
}

/* Whether other programs leave too few cores for a run that begins now. */
static int is_stalled(const struct step *step, int64_t workers, double start)
{
  return step->shared > 0 && start < stalls.until && most_alone(step, workers) < stalls.longest;
}

/* Whether the next run is to be on one thread. */
static int is_alone(struct step *step, int64_t workers)
{
  if (step->alone == 0 && workers * step->shared > LONG) step->next = step->runs + 1;
  const int better = step->alone > 0 && step->alone <= step->shared;
  if (step->runs < step->next) return better;
  if (step->runs == step->next) step->trial = !better;
  const int trial = step->trial;
  if (step->runs == step->next + TRIES - 1) {
    const double ratio = step->alone > 0 ? step->alone / step->shared : 1;
    step->next = step->runs + 1 + (int64_t)(SELDOM * (ratio > 1 ? ratio : 1 / ratio));
  }
  return trial;
}

/* Takes note of a run on several threads that ended now. */
static void note_stall(const struct step *step, int64_t workers, double took, double end)
{
  if (step->shared > 0 && took > step->shared) stalls.mean += (took - step->shared - stalls.mean) / MEMORY;
  else stalls.mean -= stalls.mean / MEMORY;
  const double gain = most_alone(step, workers) * (1 - 1. / workers);
  if (stalls.mean <= (gain > STALL ? gain : STALL)) return;
  /* Rests longer where the last rest was of little use. */
  const int again = end - stalls.until < 4 * stalls.rest;
  stalls.rest = !again ? SHORT_REST : 2 * stalls.rest < LONG_REST ? 2 * stalls.rest : LONG_REST;
  if (!again || stalls.mean > stalls.longest) stalls.longest = stalls.mean;
  stalls.until = end + stalls.rest;
  stalls.mean = 0;
}

__attribute__((noinline)) static void run_step(struct step *step)
{
  if (!step->workers || *step->workers <= 1) {
    step->run(step->args);
    return;
  }
  const int64_t workers = *step->workers;
  const double start = now();
  const int stalled = is_stalled(step, workers, start), alone = stalled || is_alone(step, workers);
  if (alone) *step->workers = 1;
  step->run(step->args);
  *step->workers = workers;
  const double end = now(), took = end - start;
  if (alone) step->alone = usual(step->alone, took);
  else {
    note_stall(step, workers, took, end);
    step->shared = usual(step->shared, took);
  }
  if (!stalled) step->runs++;
}
`;

/** `struct step`, for calls by its address. */
export class NativeStep {
  readonly address: bigint;
  private readonly words: BigInt64Array<ArrayBuffer>;

  /**
   * @param entry address of the function
   * @param args its argument struct
   * @param workers bytes from the start of `args` to the number of threads, where that may be changed
   */
  constructor(
    loader: Loader,
    entry: bigint,
    private readonly args: ArrayBuffer,
    workers?: number,
  ) {
    const at = loader.address(args);
    this.words = new BigInt64Array(MEMBERS);
    this.words.set([entry, at, workers === undefined ? 0n : at + BigInt(workers)]);
    this.forget();
    this.address = loader.address(this.words.buffer);
  }

  /** Forgets what was measured. */
  forget(): void {
    this.words.fill(0n, 3);
    this.words[6] = FIRST;
  }
}
