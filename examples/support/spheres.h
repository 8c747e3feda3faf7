// SPDX-License-Identifier: Apache-2.0
//
// A scene of spheres and what one sees of it, for the papers' two ray tracers. Nothing here is shared and
// written.
#ifndef DURESS_EXAMPLES_SPHERES_H_
#define DURESS_EXAMPLES_SPHERES_H_

#include <cmath>
#include <vector>

namespace spheres {

struct Vec {
  double x, y, z;
};
inline Vec operator+(Vec a, Vec b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Vec operator-(Vec a, Vec b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Vec operator*(Vec a, double s) {
  return {a.x * s, a.y * s, a.z * s};
}
inline double dot(Vec a, Vec b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Vec unit(Vec a) {
  return a * (1 / std::sqrt(dot(a, a)));
}

struct Sphere {
  Vec centre;
  double radius, colour;

  /// How far along the ray it is hit, or -1.
  double hit(Vec from, Vec direction) const {
    const Vec to = centre - from;
    const double along = dot(to, direction), rest = radius * radius - dot(to, to) + along * along;
    if (rest < 0) return -1;
    const double distance = along - std::sqrt(rest);
    return distance > 1e-6 ? distance : -1;
  }
};

class Scene {
 public:
  Scene() {
    for (int i = 0; i < 8; ++i)
      things_.push_back({{(i % 2) * 5.0 - 2.5, (i / 2 % 2) * 5.0 - 2.5, i / 4 * 5.0}, 2.0, 0.3 + 0.08 * i});
  }

  /// Brightness of a pixel of an image of `size` times `size`: 0 to 255.
  int pixel(int x, int y, int size) const {
    const Vec direction = unit({(x - size / 2.0) / size, (y - size / 2.0) / size, 1.0});
    return static_cast<int>(trace({0, 0, -20}, direction, 3) * 255);
  }

 private:
  const Sphere* nearest(Vec from, Vec direction, double& distance) const {
    const Sphere* found = nullptr;
    for (const Sphere& thing : things_) {
      const double d = thing.hit(from, direction);
      if (d > 0 && (found == nullptr || d < distance)) found = &thing, distance = d;
    }
    return found;
  }

  double trace(Vec from, Vec direction, int depth) const {
    double distance = 0, ignored = 0;
    const Sphere* thing = nearest(from, direction, distance);
    if (thing == nullptr) return 0.1;
    const Vec at = from + direction * distance, normal = (at - thing->centre) * (1 / thing->radius);
    const Vec to_light = unit(light_ - at);
    double brightness = 0.1;
    if (nearest(at + normal * 1e-4, to_light, ignored) == nullptr)
      brightness += std::fmax(0.0, dot(normal, to_light)) * thing->colour;
    if (depth > 0)
      brightness += 0.3 * trace(at, unit(direction - normal * (2 * dot(normal, direction))), depth - 1);
    return brightness;
  }

  std::vector<Sphere> things_;
  Vec light_{-20, 30, -40};
};

}  // namespace spheres

#endif  // DURESS_EXAMPLES_SPHERES_H_
