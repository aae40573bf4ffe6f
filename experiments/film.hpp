#pragma once

/// Runs of experiments to look at: `tangere experiment NAME --html DIR` makes pages of them.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tangere/sim/world.hpp"

namespace tangere::experiments {

struct Film {
  /// The page's file name without ending.
  std::string name;
  std::string title;
  /// The text of a recording.
  std::string recording;
};

/// Another trajectory to see through: a state a step.
struct FilmGhost {
  std::string name;
  const std::vector<State>* states = nullptr;
};

/// Makes a film of a run as it goes: the start is step 0.
class FilmRecorder {
 public:
  FilmRecorder(const std::string& name, const std::string& title, const World& world, const FilmGhost& ghost = {});
  ~FilmRecorder();
  FilmRecorder(const FilmRecorder&) = delete;
  FilmRecorder& operator=(const FilmRecorder&) = delete;

  void add(int step_number, const State& state, std::span<const Contact> contacts = {});
  [[nodiscard]] Film finish();

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// The run from `start` under these controls (one column a step).
[[nodiscard]] Film film(const std::string& name, const std::string& title, const World& world, const State& start,
                        const MatrixX& controls, const FilmGhost& ghost = {});

}  // namespace tangere::experiments
