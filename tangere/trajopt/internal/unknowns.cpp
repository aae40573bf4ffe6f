#include "tangere/trajopt/internal/unknowns.hpp"

#include <array>
#include <cmath>

#include "tangere/math/error.hpp"

namespace tangere::internal {
namespace {

constexpr std::array<const char*, 10> kInertialNames = {"mass",     "center.x", "center.y", "center.z", "spread.x",
                                                        "spread.y", "spread.z", "skew.xy",  "skew.xz",  "skew.yz"};
constexpr std::array<const char*, 10> kInertialParameters = {"mass",       "center.x",   "center.y",   "center.z",
                                                             "inertia.xx", "inertia.yy", "inertia.zz", "inertia.xy",
                                                             "inertia.xz", "inertia.yz"};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t at = 0;
  while (true) {
    const std::size_t end = name.find('=', at);
    parts.push_back(trimmed(name.substr(at, end == std::string::npos ? end : end - at)));
    if (end == std::string::npos) return parts;
    at = end + 1;
  }
}

Unknown::Kind kind_of(const StepParameter& p) {
  using Kind = StepParameter::Kind;
  if (p.kind == Kind::restitution) return Unknown::Kind::part;
  if (p.kind == Kind::friction || p.kind == Kind::pair_friction || p.kind == Kind::shape_size)
    return Unknown::Kind::positive;
  if (p.kind == Kind::shape_placement) return Unknown::Kind::free;
  switch (p.model.kind) {
    case Parameter::Kind::mass:
    case Parameter::Kind::damping:
    case Parameter::Kind::stiffness:
    case Parameter::Kind::armature:
      return Unknown::Kind::positive;
    case Parameter::Kind::inertia:
      return p.model.component < 3 ? Unknown::Kind::positive : Unknown::Kind::free;
    default:
      return Unknown::Kind::free;
  }
}

/// Metres and radians count by tenths; accelerations by ones.
double scale_of(const StepParameter& p) {
  return p.kind == StepParameter::Kind::model && p.model.kind == Parameter::Kind::gravity ? 1.0 : 0.1;
}

/// The triangular factor of ten numbers, without its length.
Matrix3 triangle(const Eigen::Ref<const VectorX>& z) {
  Matrix3 L = Matrix3::Zero();
  L.diagonal() = z.segment<3>(4).array().exp();
  L(0, 1) = z[7];
  L(0, 2) = z[8];
  L(1, 2) = z[9];
  return L;
}

/// Rows xx yy zz xy xz yz of tr(S) 1 - S.
Eigen::Matrix<double, 6, 1> inertia_of(const Matrix3& S) {
  Eigen::Matrix<double, 6, 1> out;
  out << S(1, 1) + S(2, 2), S(0, 0) + S(2, 2), S(0, 0) + S(1, 1), -S(0, 1), -S(0, 2), -S(1, 2);
  return out;
}

/// Upper triangular L with S = L Lᵀ. False if S is not positive definite.
bool upper_factor(const Matrix3& S, Matrix3& L) {
  // the reversed matrix has a lower factor, which reversed is upper
  const Matrix3 turned = S.reverse();
  const Eigen::LLT<Matrix3> llt(turned);
  if (llt.info() != Eigen::Success) return false;
  const Matrix3 lower = llt.matrixL();
  L = lower.reverse();
  return L.diagonal().minCoeff() > 0.0;
}

}  // namespace

Unknowns::Unknowns(const World& world, const std::vector<std::string>& names) {
  constexpr std::string_view kDensity = ".density";
  constexpr std::string_view kInertial = ".inertial";
  if (names.empty()) throw InputError("parameters", "must have at least one entry");
  for (const std::string& name : names) {
    if (name.ends_with(kDensity)) {
      add_density(world, name.substr(0, name.size() - kDensity.size()));
    } else if (name.ends_with(kInertial)) {
      add_inertial(world, name.substr(0, name.size() - kInertial.size()));
    } else {
      add_number(world, name);
    }
  }
}

void Unknowns::add_number(const World& world, const std::string& name) {
  Unknown unknown{.name = name, .first_parameter = static_cast<int>(parameters_.size()), .first = size()};
  const std::vector<std::string> parts = parts_of(name);
  unknown.num_parameters = static_cast<int>(parts.size());
  for (const std::string& part : parts) parameters_.push_back(find_step_parameter(world, part));
  const StepParameter& parameter = parameters_[unknown.first_parameter];
  unknown.kind = kind_of(parameter);
  unknown.scale = scale_of(parameter);
  for (int i = 1; i < unknown.num_parameters; ++i)
    if (kind_of(parameters_[unknown.first_parameter + i]) != unknown.kind)
      throw InputError(name, "ties parameters of different kinds");
  const double value = parameter_values(world, {&parameter, 1})[0];
  double z = value / unknown.scale;
  if (unknown.kind == Unknown::Kind::positive) {
    if (!(value > 0.0)) throw InputError(name, "must be above 0 at the start, for nothing is felt of it there");
    z = std::log(value);
  } else if (unknown.kind == Unknown::Kind::part) {
    if (!(value > 0.0 && value < 1.0)) throw InputError(name, "must be between 0 and 1 at the start");
    z = std::log(value / (1.0 - value));
  }
  start_.conservativeResize(size() + 1);
  start_[size() - 1] = z;
  unknowns_.push_back(unknown);
}

void Unknowns::add_density(const World& world, const std::string& body) {
  Unknown unknown{.name = body + ".density",
                  .kind = Unknown::Kind::density,
                  .first_parameter = static_cast<int>(parameters_.size()),
                  .num_parameters = 7,
                  .first = size()};
  for (const char* part : kInertialParameters)
    if (!std::string_view(part).starts_with("center"))
      parameters_.push_back(find_step_parameter(world, body + "." + part));
  unknown.base = parameter_values(world, std::span(parameters_).subspan(unknown.first_parameter, 7));
  if (!(unknown.base[0] > 0.0)) throw InputError(unknown.name, "is of a body without mass");
  start_.conservativeResize(size() + 1);
  start_[size() - 1] = 0.0;
  unknowns_.push_back(unknown);
}

void Unknowns::add_inertial(const World& world, const std::string& body) {
  Unknown unknown{.name = body + ".inertial",
                  .kind = Unknown::Kind::inertial,
                  .first_parameter = static_cast<int>(parameters_.size()),
                  .num_parameters = 10,
                  .first = size(),
                  .size = 10};
  for (const char* part : kInertialParameters) parameters_.push_back(find_step_parameter(world, body + "." + part));
  const VectorX theta = parameter_values(world, std::span(parameters_).subspan(unknown.first_parameter, 10));
  Matrix3 I;
  I << theta[4], theta[7], theta[8], theta[7], theta[5], theta[9], theta[8], theta[9], theta[6];
  const Matrix3 S = 0.5 * I.trace() * Matrix3::Identity() - I;
  Matrix3 L;
  if (!(theta[0] > 0.0) || !upper_factor(S / theta[0], L))
    throw InputError(unknown.name, "has no mass, or an inertia no body with thickness has, at the start");
  unknown.scale = std::sqrt(S.trace() / theta[0]);
  L /= unknown.scale;
  start_.conservativeResize(size() + 10);
  auto z = start_.tail<10>();
  z[0] = std::log(theta[0]);
  z.segment<3>(1) = theta.segment<3>(1) / unknown.scale;
  z.segment<3>(4) = L.diagonal().array().log();
  z.tail<3>() << L(0, 1), L(0, 2), L(1, 2);
  unknowns_.push_back(unknown);
}

std::string Unknowns::number_name(int i) const {
  for (const Unknown& unknown : unknowns_) {
    if (i < unknown.first || i >= unknown.first + unknown.size) continue;
    if (unknown.kind != Unknown::Kind::inertial) return unknown.name;
    return unknown.name.substr(0, unknown.name.size() - std::string_view("inertial").size()) +
           kInertialNames[i - unknown.first];
  }
  throw InputError("i", "is no unknown");
}

VectorX Unknowns::values(const VectorX& z) const {
  VectorX out(static_cast<Eigen::Index>(parameters_.size()));
  for (const Unknown& unknown : unknowns_) {
    const double number = z[unknown.first];
    auto mine = out.segment(unknown.first_parameter, unknown.num_parameters);
    switch (unknown.kind) {
      case Unknown::Kind::free:
        mine.setConstant(unknown.scale * number);
        break;
      case Unknown::Kind::positive:
        mine.setConstant(std::exp(number));
        break;
      case Unknown::Kind::part:
        mine.setConstant(1.0 / (1.0 + std::exp(-number)));
        break;
      case Unknown::Kind::density:
        mine = std::exp(number) * unknown.base;
        break;
      case Unknown::Kind::inertial: {
        const double mass = std::exp(number);
        const Matrix3 L = unknown.scale * triangle(z.segment(unknown.first, 10));
        mine[0] = mass;
        mine.segment<3>(1) = unknown.scale * z.segment<3>(unknown.first + 1);
        mine.tail<6>() = inertia_of(mass * L * L.transpose());
        break;
      }
    }
  }
  return out;
}

MatrixX Unknowns::jacobian(const VectorX& z) const {
  MatrixX J = MatrixX::Zero(static_cast<Eigen::Index>(parameters_.size()), size());
  for (const Unknown& unknown : unknowns_) {
    auto block = J.block(unknown.first_parameter, unknown.first, unknown.num_parameters, unknown.size);
    const double number = z[unknown.first];
    const double part = 1.0 / (1.0 + std::exp(-number));
    switch (unknown.kind) {
      case Unknown::Kind::free:
        block.setConstant(unknown.scale);
        break;
      case Unknown::Kind::positive:
        block.setConstant(std::exp(number));
        break;
      case Unknown::Kind::part:
        block.setConstant(part * (1.0 - part));
        break;
      case Unknown::Kind::density:
        block = std::exp(number) * unknown.base;
        break;
      case Unknown::Kind::inertial: {
        const double mass = std::exp(number);
        const Matrix3 L = unknown.scale * triangle(z.segment(unknown.first, 10));
        block(0, 0) = mass;
        block.block<6, 1>(4, 0) = inertia_of(mass * L * L.transpose());
        for (int i = 0; i < 3; ++i) block(1 + i, 1 + i) = unknown.scale;
        constexpr std::array<std::pair<int, int>, 6> kEntries = {{{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}}};
        for (int k = 0; k < 6; ++k) {
          const auto& [row, column] = kEntries[k];
          Matrix3 dL = Matrix3::Zero();
          dL(row, column) = row == column ? L(row, row) : unknown.scale;
          const Matrix3 half = mass * dL * L.transpose();
          block.block<6, 1>(4, 4 + k) = inertia_of(half + half.transpose());
        }
        break;
      }
    }
  }
  return J;
}

}  // namespace tangere::internal
