#pragma once

/// Sorts pairs of ids by a, then b: two counting passes, linear in pairs and ids. Private to proximity.

#include <vector>

#include "tangere/proximity/broad_phase.hpp"

namespace tangere {

class PairSorter {
 public:
  /// All ids are below id_limit.
  void sort(std::vector<BodyPair>& pairs, int id_limit);

 private:
  template <int BodyPair::*key>
  void counting_pass(const std::vector<BodyPair>& from, std::vector<BodyPair>& to);

  std::vector<BodyPair> other_;
  std::vector<int> starts_;
};

}  // namespace tangere
