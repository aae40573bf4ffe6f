#include <string>
#include <utility>

#include "tangere/math/error.hpp"
#include "tangere/sim/tape/hard_tape.hpp"
#include "tangere/sim/tape/smooth_tape.hpp"
#include "tangere/sim/tape/warm_start.hpp"

namespace tangere {
namespace {

/// A copy into memory that may be there already.
template <class T>
void copy(const std::unique_ptr<T>& from, std::unique_ptr<T>& to) {
  if (from == nullptr)
    to.reset();
  else if (to == nullptr)
    to = std::make_unique<T>(*from);
  else
    *to = *from;
}

}  // namespace

Tape::Tape() = default;
Tape::~Tape() = default;
Tape::Tape(Tape&&) noexcept = default;
Tape& Tape::operator=(Tape&&) noexcept = default;
Tape::Tape(const Tape& other) { *this = other; }

Tape& Tape::operator=(const Tape& other) {
  if (this == &other) return *this;
  q = other.q;
  v = other.v;
  u = other.u;
  v_plus = other.v_plus;
  regions = other.regions;
  status = other.status;
  formulation = other.formulation;
  copy(other.hard_, hard_);
  copy(other.smooth_, smooth_);
  return *this;
}

void Tape::begin(Formulation by) {
  formulation = by;
  status = StepStatus::solved;
  if (by == Formulation::lcp) {
    if (hard_ == nullptr) hard_ = std::make_unique<HardTape>();
    hard_->num_impacts = 0;
  } else {
    if (smooth_ == nullptr) smooth_ = std::make_unique<SmoothTape>();
    smooth_->halves.clear();
  }
}

void Tape::refuse() const {
  const bool other = (formulation == Formulation::lcp ? hard_ == nullptr : smooth_ == nullptr);
  if (other) throw InputError("tape", "is of no step");
  throw InputError("tape", "is of a step by " + std::string(to_string(formulation)));
}

int Tape::num_impacts() const { return has_hard() ? hard_->num_impacts : 0; }

const Tape& Tape::impact(int i) const { return hard().parts[2 * static_cast<std::size_t>(i)]; }
const Tape& Tape::after_impact(int i) const { return hard().parts[2 * static_cast<std::size_t>(i) + 1]; }

std::size_t Tape::num_impact_contacts() const {
  std::size_t count = 0;
  for (int i = 0; i < num_impacts(); ++i) count += impact(i).hard().problem.contacts.size();
  return count;
}

WarmStart::WarmStart() = default;
WarmStart::~WarmStart() = default;
WarmStart::WarmStart(WarmStart&&) noexcept = default;
WarmStart& WarmStart::operator=(WarmStart&&) noexcept = default;
WarmStart::WarmStart(const WarmStart& other) { *this = other; }

WarmStart& WarmStart::operator=(const WarmStart& other) {
  if (this != &other) copy(other.data_, data_);
  return *this;
}

WarmStart::Data& WarmStart::data() {
  if (data_ == nullptr) data_ = std::make_unique<Data>();
  return *data_;
}

}  // namespace tangere
