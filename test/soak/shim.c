/*
 * Stands between a program and MPI: counts the messages that it sends and the collectives that it calls, and can spoil one message. It includes no header of MPI, so it serves any that
 * has int counts and handles of 4 or 8 bytes on x86-64 and AArch64 Linux.
 *   cc -O2 -shared -fPIC -o libshim.so shim.c
 *   LD_PRELOAD=$PWD/libshim.so SHIM_OUT=./count SHIM=drop:1:5  (in the environment of the ranks)
 * SHIM: drop:RANK:N     message N of RANK (0 is its first) is never sent
 *       flip:RANK:N     one bit of each of its words of 8 bytes is changed
 *       late:RANK:N:MS  it is sent MS milliseconds later
 * SHIM_OUT.RANK.json, written at the end: calls by name, and for each partner the messages and bytes that were sent.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An int, a pointer or a handle: each takes a register or a stack slot of its own. */
typedef long Word;
typedef Word (*Function)();

enum { RANKS = 1024, CALLS = 32 };

static struct { uint64_t count, bytes; } sent[RANKS];
static struct { const char *name; uint64_t count; } calls[CALLS];
static int rank = -1, size, nobody;
static struct { char how[16]; int rank; long at, ms; } spoil = { "", -1, -1, 0 };
static long messages;

static Function function(const char *name) {
  Function found = (Function)dlsym(RTLD_DEFAULT, name);
  if (found) return found;
  fprintf(stderr, "shim: no %s: the MPI library is not in the global scope\n", name);
  _exit(97);
}

/* The library's own function, found once. */
#define OWN(name) static Function own; if (!own) own = function("P" name)

static void count_call(const char *name) {
  for (int i = 0; i < CALLS; i++) {
    if (!calls[i].name) calls[i].name = name;
    if (calls[i].name != name) continue;
    calls[i].count++;
    return;
  }
}

static void begin(void) {
  int abi[2] = { -1, -1 };
  Function version = (Function)dlsym(RTLD_DEFAULT, "MPI_Abi_get_version");
  if (version) version(abi, abi + 1);
  int is_open = dlsym(RTLD_DEFAULT, "ompi_mpi_comm_self") != NULL, is_standard = !is_open && abi[0] >= 1;
  nobody = is_open ? -2 : is_standard ? -3 : -1;
  Word world = is_open ? (Word)dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") : is_standard ? 0x101 : 0x44000000;
  function("PMPI_Comm_rank")(world, &rank);
  function("PMPI_Comm_size")(world, &size);
  const char *asked = getenv("SHIM");
  if (asked) sscanf(asked, "%15[a-z]:%d:%ld:%ld", spoil.how, &spoil.rank, &spoil.at, &spoil.ms);
}

static void report(void) {
  const char *out = getenv("SHIM_OUT");
  if (!out || rank < 0) return;
  char path[4096];
  snprintf(path, sizeof path, "%s.%d.json", out, rank);
  FILE *file = fopen(path, "w");
  if (!file) return;
  const char *comma = "";
  fprintf(file, "{\"rank\":%d,\"size\":%d,\"calls\":{", rank, size);
  for (int i = 0; i < CALLS && calls[i].name; i++, comma = ",") fprintf(file, "%s\"%s\":%lu", comma, calls[i].name, calls[i].count);
  comma = "";
  fprintf(file, "},\"sent\":[");
  for (int to = 0; to < size && to < RANKS; to++) {
    if (!sent[to].count) continue;
    fprintf(file, "%s{\"from\":%d,\"to\":%d,\"count\":%lu,\"bytes\":%lu}", comma, rank, to, sent[to].count, sent[to].bytes);
    comma = ",";
  }
  fprintf(file, "]}\n");
  fclose(file);
}

/* The memory to send in place of a message's own, which stays as it is. */
static Word flipped(Word memory, uint64_t bytes) {
  unsigned char *copy = malloc(bytes + 1);
  memcpy(copy, (void *)memory, bytes);
  for (uint64_t i = bytes > 6 ? 6 : 0; i < bytes; i += 8) copy[i] ^= 8;
  return (Word)copy;
}

Word MPI_Init_thread(Word argc, Word argv, Word required, Word provided) {
  OWN("MPI_Init_thread");
  Word error = own(argc, argv, required, provided);
  begin();
  return error;
}

Word MPI_Finalize(void) {
  OWN("MPI_Finalize");
  report();
  return own();
}

Word MPI_Isend(Word memory, Word number, Word type, Word to, Word tag, Word comm, Word request) {
  OWN("MPI_Isend");
  static Function type_size;
  if (!type_size) type_size = function("PMPI_Type_size");
  int each = 0;
  type_size(type, &each);
  uint64_t bytes = (uint64_t)(uint32_t)number * (uint32_t)each;
  if ((int)to >= 0 && (int)to < RANKS) {
    sent[(int)to].count++;
    sent[(int)to].bytes += bytes;
  }
  if (rank == spoil.rank && messages++ == spoil.at) {
    fprintf(stderr, "shim: rank %d, message %ld, to %d, %lu bytes: %s\n", rank, spoil.at, (int)to, bytes, spoil.how);
    if (!strcmp(spoil.how, "drop")) to = nobody;
    if (!strcmp(spoil.how, "late")) usleep(1000 * spoil.ms);
    if (!strcmp(spoil.how, "flip")) memory = flipped(memory, bytes);
  }
  return own(memory, number, type, to, tag, comm, request);
}

#define COUNTED(name) \
  Word name(Word a, Word b, Word c, Word d, Word e, Word f, Word g, Word h, Word i, Word j) { \
    OWN(#name); \
    count_call(#name); \
    return own(a, b, c, d, e, f, g, h, i, j); \
  }
COUNTED(MPI_Send) COUNTED(MPI_Ssend) COUNTED(MPI_Rsend) COUNTED(MPI_Issend) COUNTED(MPI_Sendrecv) COUNTED(MPI_Start) COUNTED(MPI_Put) COUNTED(MPI_Get)
COUNTED(MPI_Barrier) COUNTED(MPI_Bcast) COUNTED(MPI_Reduce) COUNTED(MPI_Allreduce) COUNTED(MPI_Gather) COUNTED(MPI_Allgather) COUNTED(MPI_Allgatherv) COUNTED(MPI_Alltoall)
COUNTED(MPI_Alltoallv) COUNTED(MPI_Ibarrier) COUNTED(MPI_Ibcast) COUNTED(MPI_Iallreduce) COUNTED(MPI_Iallgather) COUNTED(MPI_Iallgatherv)
