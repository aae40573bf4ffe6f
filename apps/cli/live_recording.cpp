#include "apps/cli/live_recording.hpp"

#include <algorithm>
#include <cstdlib>

#include "tangere/io/recording/recording_text.hpp"
#include "tangere/math/assert.hpp"

namespace tangere::cli {
namespace {

/// Frames start with their time (recording_text.cpp).
double time_of(const std::string& frame) {
  constexpr std::string_view kStart = "{\"t\":";
  TANGERE_ASSERT(std::string_view(frame).starts_with(kStart));
  return std::strtod(frame.c_str() + kStart.size(), nullptr);
}

}  // namespace

void LiveRecording::set_whole(std::string text) {
  const std::scoped_lock lock(mutex_);
  start_ = std::make_shared<const std::string>(std::move(text));
  whole_ = true;
  finished_ = true;
}

void LiveRecording::set_wake(std::function<void()> wake) {
  const std::scoped_lock lock(mutex_);
  wake_ = std::move(wake);
}

void LiveRecording::on_header(std::string_view header) {
  const std::scoped_lock lock(mutex_);
  start_ = std::make_shared<const std::string>(header);
}

void LiveRecording::on_frame(std::string_view frame) {
  auto text = std::make_shared<const std::string>(frame);
  const double t = time_of(*text);
  const std::scoped_lock lock(mutex_);
  if (++since_kept_ < keep_every_ && !frames_.empty()) return;
  since_kept_ = 0;
  bytes_ += text->size();
  frames_.push_back({t, std::move(text)});
  if (bytes_ > most_bytes_) thin_out();
  if (wake_) wake_();
}

void LiveRecording::on_finish() {
  const std::scoped_lock lock(mutex_);
  finished_ = true;
  if (wake_) wake_();
}

void LiveRecording::thin_out() {
  std::deque<Frame> kept;
  bytes_ = 0;
  for (std::size_t i = 0; i < frames_.size(); i += 2) {
    bytes_ += frames_[i].text->size();
    kept.push_back(std::move(frames_[i]));
  }
  frames_ = std::move(kept);
  keep_every_ *= 2;
}

std::vector<LiveRecording::Text> LiveRecording::pieces() const {
  static const Text kBetween = std::make_shared<const std::string>(kBetweenFrames);
  static const Text kEnd = std::make_shared<const std::string>(kRecordingEnd);
  const std::scoped_lock lock(mutex_);
  if (start_ == nullptr) return {};
  std::vector<Text> pieces{start_};
  pieces.reserve(2 * frames_.size() + 2);
  for (const Frame& frame : frames_) {
    if (pieces.size() > 1) pieces.push_back(kBetween);
    pieces.push_back(frame.text);
  }
  if (finished_ && !whole_) pieces.push_back(kEnd);
  return pieces;
}

bool LiveRecording::finished() const {
  const std::scoped_lock lock(mutex_);
  return finished_;
}

std::size_t LiveRecording::num_frames() const {
  const std::scoped_lock lock(mutex_);
  return frames_.size();
}

std::optional<LiveRecording::Frame> LiveRecording::after(double t, std::size_t most_behind) const {
  const std::scoped_lock lock(mutex_);
  const auto next = std::upper_bound(frames_.begin(), frames_.end(), t,
                                     [](double value, const Frame& frame) { return value < frame.t; });
  if (next == frames_.end()) return std::nullopt;
  const auto behind = static_cast<std::size_t>(frames_.end() - next);
  return behind > most_behind ? frames_.back() : *next;
}

}  // namespace tangere::cli
