// SPDX-License-Identifier: Apache-2.0
//
// A small ray tracer with 64 spheres, shadows and reflections (Java Grande's raytracer): rows are dealt
// out by turns, the checksum is added up under a mutex. `work` rows and columns, a texture of `data` points.
#include <cmath>
#include <mutex>

#include "../kernel.h"

namespace {
struct Vec {
  double x, y, z;
};
Vec operator+(Vec a, Vec b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
Vec operator-(Vec a, Vec b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
Vec operator*(Vec a, double s) {
  return {a.x * s, a.y * s, a.z * s};
}
double dot(Vec a, Vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
Vec unit(Vec a) {
  return a * (1 / std::sqrt(dot(a, a)));
}

class Primitive {
 public:
  virtual ~Primitive() = default;
  virtual double hit(Vec from, Vec direction) const = 0;
  virtual Vec normal(Vec at) const = 0;
  double colour = 0.5, shine = 0.3;
};

class Sphere : public Primitive {
 public:
  Sphere(Vec c, double r) : centre(c), radius(r) {}
  double hit(Vec from, Vec direction) const override {
    Vec to = centre - from;
    double along = dot(to, direction), rest = radius * radius - dot(to, to) + along * along;
    if (rest < 0) return -1;
    double distance = along - std::sqrt(rest);
    return distance > 1e-6 ? distance : -1;
  }
  Vec normal(Vec at) const override { return (at - centre) * (1 / radius); }

 private:
  Vec centre;
  double radius;
};

struct Scene {
  std::vector<Primitive*> things;
  Vec light{-20, 30, -40};
  std::vector<float> texture;

  double pattern(Vec at) const {
    auto point = static_cast<uint64_t>((at.x + 50) * 7e5) ^ static_cast<uint64_t>((at.y + 50) * 9e8);
    return texture[point % texture.size()];
  }

  const Primitive* nearest(Vec from, Vec direction, double& distance) const {
    const Primitive* found = nullptr;
    for (const Primitive* thing : things) {
      double d = thing->hit(from, direction);
      if (d > 0 && (found == nullptr || d < distance)) found = thing, distance = d;
    }
    return found;
  }

  double trace(Vec from, Vec direction, int depth) const {
    double distance = 0;
    const Primitive* thing = nearest(from, direction, distance);
    if (thing == nullptr) return 0.1;
    Vec at = from + direction * distance, normal = thing->normal(at), to_light = unit(light - at);
    double brightness = 0.1, ignored = 0;
    if (nearest(at + normal * 1e-4, to_light, ignored) == nullptr)
      brightness += std::fmax(0.0, dot(normal, to_light)) * thing->colour * pattern(at);
    if (depth > 0)
      brightness +=
          thing->shine * trace(at, unit(direction - normal * (2 * dot(normal, direction))), depth - 1);
    return brightness;
  }
};
}  // namespace

int main(int argc, char** argv) {
  auto [threads, work, data] = bench::arguments(argc, argv, 750, 10000);
  const long size = work;
  Scene scene;
  scene.texture.resize(data);
  for (long i = 0; i < data; i++) scene.texture[i] = 0.5f + 0.5f * static_cast<float>(i % 17) / 16;
  for (int i = 0; i < 64; i++) {
    auto* sphere = new Sphere({(i % 4) * 5.0 - 7.5, (i / 4 % 4) * 5.0 - 7.5, (i / 16) * 5.0}, 2.0);
    sphere->colour = 0.3 + 0.01 * i;
    scene.things.push_back(sphere);
  }
  std::vector<int> image(size * size);
  std::mutex mutex;
  uint64_t checksum = 0;
  bench::parallel(threads, [&, threads = threads](int t) {
    for (long y = t; y < size; y += threads) {
      uint64_t row_sum = 0;
      for (long x = 0; x < size; x++) {
        Vec direction = unit({(x - size / 2.0) / size, (y - size / 2.0) / size, 1.0});
        int value = static_cast<int>(scene.trace({0, 0, -30}, direction, 3) * 255);
        image[y * size + x] = value;
        row_sum += value;
      }
      std::lock_guard lock(mutex);
      checksum += row_sum;
    }
  });
  for (int value : image) checksum = checksum * 31 + value;
  for (Primitive* thing : scene.things) delete thing;
  return bench::finish(checksum);
}
