#include "tangere/math/random.hpp"

#include <bit>
#include <cmath>

#include "tangere/math/assert.hpp"

namespace tangere {
namespace {

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }

double Random::log_uniform(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }

int Random::index(int n) {
  TANGERE_ASSERT(n > 0);
  // Lemire: scale 32 random bits by n, and redraw the few that would favour some answers
  const std::uint64_t range = static_cast<std::uint32_t>(n);
  const std::uint64_t threshold = (std::uint64_t{1} << 32U) % range;
  std::uint64_t product;
  do {
    product = (next() >> 32U) * range;
  } while ((product & 0xffffffffU) < threshold);
  return static_cast<int>(product >> 32U);
}

double Random::normal() {
  // the second number of the pair is dropped, so that the state is the four words and nothing else
  double u;
  double square;
  do {
    u = uniform(-1.0, 1.0);
    const double v = uniform(-1.0, 1.0);
    square = u * u + v * v;
  } while (square >= 1.0 || square == 0.0);
  return u * std::sqrt(-2.0 * std::log(square) / square);
}

Vector3 Random::normal3() {
  // the order of the draws is part of the sequence: never as arguments of one call
  Vector3 a;
  for (int i = 0; i < 3; ++i) a[i] = normal();
  return a;
}

Vector3 Random::unit_vector() {
  Vector3 a;
  do {
    a = normal3();
  } while (a.squaredNorm() < 1e-12);
  return a.normalized();
}

Matrix3 Random::rotation() {
  // four normal numbers point in a uniform direction of R⁴: a uniform unit quaternion
  Vector4 q;
  do {
    for (int i = 0; i < 4; ++i) q[i] = normal();
  } while (q.squaredNorm() < 1e-12);
  q.normalize();
  return Eigen::Quaterniond(q[3], q[0], q[1], q[2]).toRotationMatrix();
}

}  // namespace tangere
