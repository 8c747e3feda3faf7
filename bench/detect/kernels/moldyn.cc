// SPDX-License-Identifier: Apache-2.0
//
// Molecular dynamics with a Lennard-Jones potential (Java Grande's moldyn): each thread adds up forces in
// its own array, a barrier, then all threads reduce and move the particles that are theirs. `work` steps with
// `data` particles per edge of a cube; a step of many particles looks at the nearest of each only.
#include <algorithm>
#include <cmath>

#include "../kernel.h"

namespace {
struct Vector {
  double x = 0, y = 0, z = 0;
};
struct Particle {
  Vector position, velocity, force;
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 100, 12);
  const long size = data;
  constexpr double kStep = 0.002, kCutoff = 6.25;
  const double side = size * 1.2;
  std::vector<Particle> particles;
  bench::Random random(42);
  for (long i = 0; i < size * size * size; i++) {
    Particle particle;
    particle.position = {(i % size) * 1.2, (i / size % size) * 1.2, (i / size / size) * 1.2};
    particle.velocity = {random.uniform() - 0.5, random.uniform() - 0.5, random.uniform() - 0.5};
    particles.push_back(particle);
  }
  const long n = static_cast<long>(particles.size()), pairs = std::max(40L, 3000000 / n);
  std::vector<std::vector<Vector>> forces(threads, std::vector<Vector>(n));
  std::vector<double> energy(threads);
  bench::Barrier barrier(threads);
  bench::parallel(threads, [&, threads = threads, work = work](int t) {
    bench::Slice mine(n, t, threads);
    auto& force = forces[t];
    auto nearest = [side](double d) { return d > side / 2 ? d - side : d < -side / 2 ? d + side : d; };
    for (long step = 0; step < work; step++) {
      for (Vector& f : force) f = {};
      for (long i = t; i < n; i += threads) {
        const Vector p = particles[i].position;
        for (long j = i + 1; j < std::min(n, i + pairs); j++) {
          const Vector& q = particles[j].position;
          double dx = nearest(p.x - q.x), dy = nearest(p.y - q.y), dz = nearest(p.z - q.z);
          double square = dx * dx + dy * dy + dz * dz;
          if (square > kCutoff) continue;
          double inverse = 1.0 / square, sixth = inverse * inverse * inverse;
          double strength = 48.0 * inverse * sixth * (sixth - 0.5);
          energy[t] += 4.0 * sixth * (sixth - 1.0);
          force[i].x += strength * dx, force[i].y += strength * dy, force[i].z += strength * dz;
          force[j].x -= strength * dx, force[j].y -= strength * dy, force[j].z -= strength * dz;
        }
      }
      barrier.wait();
      for (long i = mine.begin; i < mine.end; i++) {
        Particle& p = particles[i];
        p.force = {};
        for (const auto& part : forces)
          p.force.x += part[i].x, p.force.y += part[i].y, p.force.z += part[i].z;
        p.velocity.x += kStep * p.force.x, p.velocity.y += kStep * p.force.y,
            p.velocity.z += kStep * p.force.z;
        p.position.x += kStep * p.velocity.x, p.position.y += kStep * p.velocity.y;
        p.position.z += kStep * p.velocity.z;
      }
      barrier.wait();
    }
  });
  double total = 0;
  for (double e : energy) total += e;
  for (const Particle& p : particles) total += p.position.x * p.velocity.y + p.velocity.z;
  return bench::finish(bench::bits(total));
}
