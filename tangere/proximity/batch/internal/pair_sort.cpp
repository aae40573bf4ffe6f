#include "tangere/proximity/batch/internal/pair_sort.hpp"

#include <algorithm>

namespace tangere {

void PairSorter::sort(std::vector<BodyPair>& pairs, int id_limit) {
  // few pairs of many ids: clearing the counts would cost more
  if (8 * pairs.size() < static_cast<std::size_t>(id_limit)) {
    std::sort(pairs.begin(), pairs.end());
    return;
  }
  starts_.resize(static_cast<std::size_t>(id_limit) + 1);
  other_.reserve(pairs.capacity());
  other_.resize(pairs.size());
  counting_pass<&BodyPair::b>(pairs, other_);
  counting_pass<&BodyPair::a>(other_, pairs);
}

template <int BodyPair::*key>
void PairSorter::counting_pass(const std::vector<BodyPair>& from, std::vector<BodyPair>& to) {
  std::fill(starts_.begin(), starts_.end(), 0);
  for (const BodyPair& pair : from) ++starts_[static_cast<std::size_t>(pair.*key) + 1];
  for (std::size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  for (const BodyPair& pair : from) {
    to[starts_[pair.*key]++] = pair;
  }
}

}  // namespace tangere
