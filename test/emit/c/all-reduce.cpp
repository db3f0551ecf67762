/* Several "GPUs" run the finish of a kernel with a sum in f64 and a maximum in f32 at once, each in a thread and with a copy of the library of its own:
   all-reduce FOLDER MEMBERS BLOCKS TURNS. Prints how many results are wrong. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <string>
#include <thread>
#include <vector>

/* In the order of the entry's parameters. */
struct Arguments {
  int members, me;
  const long long *mailboxes;
  long long *turn;
  const long long *sum_pieces, *most_pieces;
  double *sum_output;
  long long *results;
  float *most_output;
  long long patience;
};

/* More than the threads of a block ask for at once. */
const int A_BLOCK = 3500;

struct Gpu {
  int me, blocks, turns;
  bool (*run)(const char *, const unsigned *, unsigned, double *, char *);
  Arguments arguments;
  std::vector<double> sums, found_sums;
  std::vector<float> mosts, found_mosts;
  std::vector<long long> mailboxes, sum_pieces, most_pieces, results;
  long long *mailbox, turn = 0;
  double sum = 0;
  float most = 0;

  /* Odd ones have less to fold, and one block with nothing. */
  int count() const { return blocks > 1 && me % 2 ? (blocks - 1) * A_BLOCK : blocks * A_BLOCK; }
  double sum_at(int t, int n) const { return 1000 * (me + 1) + t + n % 7; }
  float most_at(int t, int n) const { return 10 * me + t + (n == 3 ? 0.5f : 0); }

  void work() {
    char *stacks = (char *)mmap(NULL, 256ul << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    double shared[1];
    const unsigned shape[6] = {(unsigned)blocks, 1, 1, 256, 1, 1};
    for (int t = 0; t < turns; t++) {
      for (int n = 0; n < count(); n++) sums[n] = sum_at(t, n), mosts[n] = most_at(t, n);
      if (!run((const char *)&arguments, shape, 32, shared, stacks)) abort();
      found_sums.push_back(sum);
      found_mosts.push_back(most);
    }
    munmap(stacks, 256ul << 16);
  }
};

int main(int, char **argv) {
  const std::string folder = argv[1];
  const int members = atoi(argv[2]), blocks = atoi(argv[3]), turns = atoi(argv[4]);
  std::vector<Gpu> gpus(members);
  for (int m = 0; m < members; m++) {
    Gpu &gpu = gpus[m];
    void *library = dlopen((folder + "/" + std::to_string(m) + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
    *(void **)&gpu.run = dlsym(library, "all_reduce_kernel_finish_run");
    const auto bytes = (size_t(*)())dlsym(library, "all_reduce_kernel_finish_bytes");
    if (bytes() != sizeof(Arguments)) return puts("the entry has other parameters"), 1;
    gpu.me = m, gpu.blocks = blocks, gpu.turns = turns;
    gpu.sums.resize(blocks * A_BLOCK), gpu.mosts.resize(blocks * A_BLOCK);
    gpu.results.resize(2);
    gpu.mailbox = (long long *)calloc(4 * members * blocks * 2, sizeof(long long));
    for (int b = 0; b < blocks; b++) {
      gpu.sum_pieces.insert(gpu.sum_pieces.end(), {(long long)&gpu.sums[b * A_BLOCK], b * A_BLOCK < gpu.count() ? A_BLOCK : 0});
      gpu.most_pieces.insert(gpu.most_pieces.end(), {(long long)&gpu.mosts[b * A_BLOCK], b * A_BLOCK < gpu.count() ? A_BLOCK : 0});
    }
  }
  for (Gpu &gpu : gpus) {
    for (Gpu &other : gpus) gpu.mailboxes.push_back((long long)other.mailbox);
    gpu.arguments = {members, gpu.me, gpu.mailboxes.data(), &gpu.turn, gpu.sum_pieces.data(), gpu.most_pieces.data(), &gpu.sum, gpu.results.data(), &gpu.most, 1};
  }
  std::vector<std::thread> threads;
  for (Gpu &gpu : gpus) threads.emplace_back([&gpu] { gpu.work(); });
  for (std::thread &thread : threads) thread.join();
  int wrong = 0;
  for (int t = 0; t < turns; t++) {
    double sum = 0;
    float most = 0;
    for (const Gpu &gpu : gpus)
      for (int n = 0; n < gpu.count(); n++) sum += gpu.sum_at(t, n), most = fmaxf(most, gpu.most_at(t, n));
    for (const Gpu &gpu : gpus) wrong += (gpu.found_sums[t] != sum) + (gpu.found_mosts[t] != most);
  }
  printf("%d wrong\n", wrong);
}
