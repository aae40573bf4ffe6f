#include "apps/cli/audience.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "apps/cli/interrupt.hpp"
#include "tangere/io/recording_page.hpp"
#include "tangere/math/error.hpp"

namespace tangere::cli {
namespace {

using Seconds = std::chrono::duration<double>;

/// Not to wait longer than this without a look at Ctrl-C.
constexpr Seconds kNap(0.05);

void require_writable(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (std::filesystem::is_directory(file)) throw InputError(file.string(), "cannot be written: it is a folder");
  if (!std::filesystem::is_directory(folder))
    throw InputError(file.string(), "cannot be written: No such file or directory");
  if (access(folder.c_str(), W_OK) != 0) throw InputError(file.string(), "cannot be written: Permission denied");
}

}  // namespace

Audience::Audience(std::string html, bool live, std::uint16_t port) : html_(std::move(html)) {
  if (html_.empty() && !live) return;
  page_ = viewer_page();
  if (!html_.empty()) require_writable(html_);
  if (live) server_ = std::make_unique<ViewServer>(page_, live_, port);
}

void Audience::announce() const {
  // on stderr: what the run answers is on the other
  if (server_ != nullptr) std::fprintf(stderr, "tangere simulate: live at %s\n", server_->address().c_str());
}

void Audience::keep_pace(double simulated_seconds) const {
  if (server_ == nullptr) return;
  while (interrupted_by() == 0) {
    const Seconds early = Seconds(simulated_seconds) - (std::chrono::steady_clock::now() - start_);
    if (early <= Seconds::zero()) return;
    std::this_thread::sleep_for(std::min(early, kNap));
  }
}

void Audience::write_page() const {
  if (!html_.empty()) write_whole_file(html_, recording_page(page_, text_.text()));
}

void Audience::stay() const {
  if (server_ == nullptr) return;
  std::fprintf(stderr, "tangere simulate: the run is over, %s still shows it (Ctrl-C ends)\n",
               server_->address().c_str());
  wait_for_interrupt();
}

void Audience::on_header(std::string_view header) {
  if (!html_.empty()) text_.on_header(header);
  live_.on_header(header);
}

void Audience::on_frame(std::string_view frame) {
  if (!html_.empty()) text_.on_frame(frame);
  if (server_ != nullptr) live_.on_frame(frame);
}

void Audience::on_finish() {
  if (!html_.empty()) text_.on_finish();
  live_.on_finish();
}

}  // namespace tangere::cli
