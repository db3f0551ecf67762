/*
 * The same messages as messages.ts, by MPI alone: lower quartile and least of 40 bursts in microseconds.
 *   mpicc -O2 messages.c -o messages && mpirun -n 2 ./messages
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BURSTS = 40, LARGEST = 4 << 20 };

static char outgoing[LARGEST], incoming[LARGEST];

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void one_way(int rank, int bytes) {
  for (int turn = 0; turn < 2; turn++)
    if (turn == rank) MPI_Send(outgoing, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD);
    else MPI_Recv(incoming, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void halo(int rank, int bytes) {
  MPI_Request both[2];
  MPI_Irecv(incoming, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &both[0]);
  MPI_Isend(outgoing, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

static void measure(const char *what, int rank, int bytes, int turns, double share, void (*turn)(int, int)) {
  double times[BURSTS];
  for (int burst = 0; burst < BURSTS; burst++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int n = 0; n < turns; n++) turn(rank, bytes);
    times[burst] = 1e6 * (MPI_Wtime() - begin) / turns * share;
  }
  qsort(times, BURSTS, sizeof *times, by_size);
  if (rank == 0) printf("%s %.3f least %.3f\n", what, times[BURSTS / 4], times[0]);
}

int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  measure("8 B one way", rank, 8, 2000, 0.5, one_way);
  measure("halos of 65536 B", rank, 65536, 400, 1, halo);
  measure("halos of 524288 B", rank, 524288, 100, 1, halo);
  measure("halos of 4194304 B", rank, 4194304, 20, 1, halo);
  MPI_Finalize();
  return 0;
}
