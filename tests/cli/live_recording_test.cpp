#include "apps/cli/live_recording.hpp"

#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include "tangere/io/recording/recording_text.hpp"
#include "tangere/io/recording_reader.hpp"

namespace tangere::cli {
namespace {

std::string text_of(const LiveRecording& live) {
  std::string text;
  for (const LiveRecording::Text& piece : live.pieces()) text += *piece;
  return text;
}

constexpr double kBefore = -std::numeric_limits<double>::infinity();
constexpr std::size_t kAnyFar = 1'000'000;

std::string frame_at(double t) { return recording_frame({.t = t}); }

void add_frames(LiveRecording& live, int first, int last) {
  for (int i = first; i <= last; ++i) live.on_frame(frame_at(i));
}

TEST(LiveRecording, GivesFramesInTheirOrder) {
  LiveRecording live;
  EXPECT_EQ(text_of(live), "");
  live.on_header(recording_header(Recording{}));
  EXPECT_FALSE(live.after(kBefore, kAnyFar).has_value());
  add_frames(live, 0, 2);
  double t = kBefore;
  for (int i = 0; i < 3; ++i) {
    const auto frame = live.after(t, kAnyFar);
    ASSERT_TRUE(frame.has_value());
    EXPECT_EQ(*frame->text, frame_at(i));
    t = frame->t;
  }
  EXPECT_FALSE(live.after(t, kAnyFar).has_value());
}

TEST(LiveRecording, IsARecordingAtEveryMoment) {
  LiveRecording live;
  live.on_header(recording_header(Recording{}));
  for (int i = 0; i < 3; ++i) {
    live.on_frame(frame_at(i));
    const Recording so_far = recording_from_text(text_of(live), "live");
    EXPECT_EQ(so_far.frames.size(), static_cast<std::size_t>(i) + 1);
    EXPECT_FALSE(so_far.complete);
  }
  live.on_finish();
  EXPECT_TRUE(live.finished());
  EXPECT_TRUE(recording_from_text(text_of(live), "live").complete);
}

TEST(LiveRecording, ThoseFarBehindGoOnWithTheNewest) {
  LiveRecording live;
  live.on_header(recording_header(Recording{}));
  add_frames(live, 0, 9);
  EXPECT_EQ(live.after(4.0, 5)->t, 5.0);
  EXPECT_EQ(live.after(3.0, 5)->t, 9.0);
}

/// However long the run, memory ends; what is kept is spread over all of it.
TEST(LiveRecording, ThinsOutWhatItKeeps) {
  const std::size_t most = 40 * frame_at(1000).size();
  LiveRecording live(most);
  live.on_header(recording_header(Recording{}));
  add_frames(live, 0, 999);
  EXPECT_LE(live.num_frames(), 40U);
  EXPECT_GE(live.num_frames(), 15U);
  const Recording kept = recording_from_text(text_of(live), "live");
  EXPECT_EQ(kept.frames.front().t, 0.0);
  EXPECT_GE(kept.frames.back().t, 900.0);
  double widest = 0.0;
  for (std::size_t i = 1; i < kept.frames.size(); ++i)
    widest = std::max(widest, kept.frames[i].t - kept.frames[i - 1].t);
  EXPECT_LE(widest, 128.0);
}

TEST(LiveRecording, WakesWatchersFromAnotherThread) {
  LiveRecording live;
  int woken = 0;
  live.set_wake([&] { ++woken; });
  live.on_header(recording_header(Recording{}));
  std::thread run([&] {
    add_frames(live, 0, 999);
    live.on_finish();
  });
  double t = kBefore;
  int heard = 0;
  while (!live.finished() || live.after(t, kAnyFar)) {
    if (const auto frame = live.after(t, kAnyFar)) {
      EXPECT_GT(frame->t, t);
      t = frame->t;
      ++heard;
    }
  }
  run.join();
  EXPECT_EQ(heard, 1000);
  EXPECT_EQ(woken, 1001);
}

TEST(LiveRecording, MayBeWholeFromTheStart) {
  LiveRecording live;
  live.set_whole("whole");
  EXPECT_TRUE(live.finished());
  EXPECT_EQ(text_of(live), "whole");
}

}  // namespace
}  // namespace tangere::cli
