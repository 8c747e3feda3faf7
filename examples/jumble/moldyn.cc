// SPDX-License-Identifier: Apache-2.0
//
// JUMBLE, figure 9, moldyn (Java Grande): molecules that attract and repel each other (Lennard-Jones). Each
// thread computes the forces on its own particles from the positions of all, and moves its own, with a
// barrier between. The barrier is made of plain flags (see the header): old flags bring the threads out of
// step for ever, old positions make wrong forces. Under sequential consistency RaceFuzzer found these races
// to be benign.
//
// moldyn [PARTICLES [STEPS]]; exits with 1 if four threads compute something else than one.
//
// EXPECT-VERDICT: TournamentBarrier::is_done[] destructive no-end|livelock
// EXPECT-VERDICT: position[] destructive exit:1
// EXPECT-RACE: TournamentBarrier::is_done[]
// EXPECT-RACE: position[]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tournament_barrier.h"

constexpr int kThreads = 4, kMost = 2048;
constexpr double kStep = 0.002, kSpacing = 1.2;

double position[kMost][3];
double velocity[kMost][3], force[kMost][3];  // each particle's only used by its own thread
double energy[kThreads];

void place(int particles) {
  int edge = 1;
  while (edge * edge * edge < particles) ++edge;
  for (int i = 0; i < particles; ++i) {
    const int at[3] = {i % edge, i / edge % edge, i / edge / edge};
    for (int axis = 0; axis < 3; ++axis) {
      position[i][axis] = at[axis] * kSpacing;
      velocity[i][axis] = ((i * 7 + axis * 5) % 11 - 5) * 0.1;
    }
  }
  std::fill(energy, energy + kThreads, 0.0);
}

void add_forces(int i, int particles, double& potential) {
  double sum[3] = {};
  for (int j = 0; j < particles; ++j) {
    if (j == i) continue;
    double apart[3], square = 0;
    for (int axis = 0; axis < 3; ++axis) {
      apart[axis] = position[i][axis] - position[j][axis];
      square += apart[axis] * apart[axis];
    }
    const double inverse = 1 / square, sixth = inverse * inverse * inverse;
    for (int axis = 0; axis < 3; ++axis) sum[axis] += 48 * inverse * sixth * (sixth - 0.5) * apart[axis];
    potential += 2 * sixth * (sixth - 1);
  }
  std::copy(sum, sum + 3, force[i]);
}

void run(int id, int threads, int particles, int steps, TournamentBarrier& barrier) {
  const int begin = particles * id / threads, end = particles * (id + 1) / threads;
  for (int step = 0; step < steps; ++step) {
    double potential = 0;
    for (int i = begin; i < end; ++i) add_forces(i, particles, potential);
    energy[id] += potential;
    barrier.wait(id);
    for (int i = begin; i < end; ++i)
      for (int axis = 0; axis < 3; ++axis) {
        velocity[i][axis] += kStep * force[i][axis];
        position[i][axis] += kStep * velocity[i][axis];
      }
    barrier.wait(id);
  }
}

/// Of all that was computed. Equal particles in equal order: equal to the last bit.
double total(int particles) {
  double sum = 0;
  for (int i = 0; i < particles; ++i)
    for (int axis = 0; axis < 3; ++axis) sum += velocity[i][axis] * velocity[i][axis] + position[i][axis];
  return sum;
}

int main(int count, char** arguments) {
  const int particles = count > 1 ? std::atoi(arguments[1]) : 8,
            steps = count > 2 ? std::atoi(arguments[2]) : 4;
  if (particles < kThreads || particles > kMost || steps < 1) return 2;
  TournamentBarrier alone(1), barrier(kThreads);
  place(particles);
  run(0, 1, particles, steps, alone);
  const double right = total(particles);
  place(particles);
  std::vector<std::thread> threads;
  for (int id = 0; id < kThreads; ++id)
    threads.emplace_back(run, id, kThreads, particles, steps, std::ref(barrier));
  for (std::thread& thread : threads) thread.join();
  const double sum = total(particles), potential = energy[0] + energy[1] + energy[2] + energy[3];
  std::printf("%s %.12f, potential energy %.6f\n", sum == right ? "valid" : "wrong", sum, potential);
  return sum == right ? 0 : 1;
}
