#include "tangere/geometry/shape_use.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace tangere::internal {
namespace {

struct Ended {
  const void* key;
  ShapeMemory memory;
};

struct Registry {
  std::mutex mutex;
  std::vector<const ShapeUse*> users;
  /// Named at their end.
  std::vector<Ended> kept;

  /// Takes out what nobody names. To be called with the mutex; what it answers ends without it, as parts of shapes are
  /// shapes.
  [[nodiscard]] std::vector<Ended> take_unnamed() {
    const auto is_named = [&](const Ended& one) {
      return std::any_of(users.begin(), users.end(), [&](const ShapeUse* user) { return user->names(one.key); });
    };
    const auto first = std::partition(kept.begin(), kept.end(), is_named);
    std::vector<Ended> out(std::make_move_iterator(first), std::make_move_iterator(kept.end()));
    kept.erase(first, kept.end());
    return out;
  }
};

/// Never ends: shapes and workspaces of the program's own statics may end after any other static.
Registry& registry() {
  static Registry& it = *new Registry;
  return it;
}

}  // namespace

ShapeUse::ShapeUse() {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.users.push_back(this);
}

ShapeUse::~ShapeUse() {
  Registry& r = registry();
  std::vector<Ended> over;  // ends after the lock
  const std::lock_guard lock(r.mutex);
  std::erase(r.users, this);
  over = r.take_unnamed();
}

void end_shape(const void* key, ShapeMemory memory) {
  Registry& r = registry();
  std::vector<Ended> over;  // ends after the lock
  const std::lock_guard lock(r.mutex);
  r.kept.push_back({key, std::move(memory)});
  over = r.take_unnamed();
}

}  // namespace tangere::internal
