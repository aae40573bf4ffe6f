#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "tangere/io/recording_export.hpp"

namespace tangere {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

void append_number(std::string& line, double value) {
  line += ',';
  if (!std::isfinite(value)) return;
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
  line.append(text.data(), end.ptr);
}

/// Numbers of the longest list; the others are filled up with empty fields.
std::size_t longest(const Recording& recording, std::vector<double> RecordedFrame::*list) {
  std::size_t size = 0;
  for (const RecordedFrame& frame : recording.frames) size = std::max(size, (frame.*list).size());
  return size;
}

void append_numbers(std::string& line, const std::vector<double>& values, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) append_number(line, i < values.size() ? values[i] : std::nan(""));
}

}  // namespace

std::string to_csv(const Recording& recording) {
  const std::size_t nq = longest(recording, &RecordedFrame::q);
  const std::size_t nv = longest(recording, &RecordedFrame::v);

  std::string text = "t";
  for (const RecordedChannel& channel : recording.channels)
    text += "," + quoted(channel.unit.empty() ? channel.name : channel.name + " (" + channel.unit + ")");
  for (std::size_t i = 0; i < nq; ++i) text += ",q[" + std::to_string(i) + "]";
  for (std::size_t i = 0; i < nv; ++i) text += ",v[" + std::to_string(i) + "]";
  for (const std::string& body : recording.bodies)
    for (const char* part : {"x", "y", "z", "qx", "qy", "qz", "qw"}) text += "," + quoted(body + "." + part);
  text += "\r\n";

  for (const RecordedFrame& frame : recording.frames) {
    std::string line;
    append_number(line, frame.t);
    append_numbers(line, frame.values, recording.channels.size());
    append_numbers(line, frame.q, nq);
    append_numbers(line, frame.v, nv);
    for (const RecordedPose& pose : frame.poses)
      for (const double number : pose) append_number(line, number);
    text.append(line, 1);
    text += "\r\n";
  }
  return text;
}

}  // namespace tangere
