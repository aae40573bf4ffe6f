#include "experiments/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "apps/cli/text.hpp"
#include "tangere/io/text/markup.hpp"

namespace tangere::experiments {
namespace {

constexpr double kWidth = 660.0;
constexpr double kHeight = 400.0;
constexpr double kLeft = 70.0;
constexpr double kRight = 140.0;
constexpr double kTop = 40.0;
constexpr double kBottom = 55.0;
constexpr std::array kColors = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f"};
/// Lines of more points are drawn without dots.
constexpr std::size_t kMostDots = 40;

/// 1, 2 or 5 times a power of ten, at least `x`.
double round_up(double x) {
  const double decade = std::pow(10.0, std::floor(std::log10(x)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= x) return factor * decade;
  return 10.0 * decade;
}

/// An axis with its range and ticks. Marks are values, or their logarithms by decades.
struct Scale {
  bool logarithmic = false;
  /// Where marks begin and end on the paper.
  double from = 0.0;
  double to = 1.0;
  double low = 0.0;
  double high = 1.0;
  double tick = 1.0;

  Scale(const std::vector<ChartLine>& lines, std::vector<double> ChartLine::*values, bool by_decades, double paper_from,
        double paper_to)
      : logarithmic(by_decades), from(paper_from), to(paper_to) {
    double smallest = std::numeric_limits<double>::infinity();
    double largest = -smallest;
    for (const ChartLine& line : lines) {
      for (const double value : line.*values) {
        if (!has(value)) continue;
        smallest = std::min(smallest, mark(value));
        largest = std::max(largest, mark(value));
      }
    }
    if (smallest > largest) return;
    if (logarithmic) {
      low = std::floor(smallest);
      high = std::max(low + 1.0, std::ceil(largest));
      tick = std::ceil((high - low) / 8.0);
    } else {
      smallest = std::min(smallest, 0.0);
      largest = std::max(largest, 0.0);
      if (!(largest > smallest)) return;
      tick = round_up((largest - smallest) / 6.0);
      low = tick * std::floor(smallest / tick);
      high = tick * std::ceil(largest / tick);
    }
  }

  [[nodiscard]] bool has(double value) const { return std::isfinite(value) && (!logarithmic || value > 0.0); }
  [[nodiscard]] double mark(double value) const { return logarithmic ? std::log10(value) : value; }
  [[nodiscard]] double on_paper(double at) const { return from + (at - low) / (high - low) * (to - from); }
  [[nodiscard]] int num_ticks() const { return 1 + static_cast<int>(std::floor((high - low) / tick + 1e-9)); }
  [[nodiscard]] double tick_mark(int i) const { return low + i * tick; }
  [[nodiscard]] std::string label(double at) const {
    return logarithmic ? cli::formatted("1e%.0f", at) : cli::formatted("%g", std::abs(at) < 1e-9 * tick ? 0.0 : at);
  }
};

std::string frame(const Chart& chart, const Scale& x, const Scale& y) {
  const double middle_x = 0.5 * (x.from + x.to);
  std::string out = cli::formatted(
      "<text x=\"%.0f\" y=\"22\" font-size=\"15\" text-anchor=\"middle\">%s</text>\n"
      "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n"
      "<text transform=\"translate(18 %.0f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
      middle_x, internal::escaped(chart.title).c_str(), middle_x, kHeight - 14.0,
      internal::escaped(chart.x.title).c_str(), 0.5 * (y.from + y.to), internal::escaped(chart.y.title).c_str());
  for (int i = 0; i < y.num_ticks(); ++i) {
    const double at = y.on_paper(y.tick_mark(i));
    out += cli::formatted(
        "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
        x.from, x.to, at, at, x.from - 6.0, at + 4.0, y.label(y.tick_mark(i)).c_str());
  }
  for (int i = 0; i < x.num_ticks(); ++i) {
    const double at = x.on_paper(x.tick_mark(i));
    out += cli::formatted(
        "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
        at, at, y.from, y.from + 4.0, at, y.from + 18.0, x.label(x.tick_mark(i)).c_str());
  }
  return out;
}

/// The line, and its name as the `index`-th of the legend.
std::string drawn(const ChartLine& line, std::size_t index, const Scale& x, const Scale& y) {
  const char* color = kColors[index % kColors.size()];
  const std::size_t count = std::min(line.x.size(), line.y.size());
  std::string path;
  std::string dots;
  bool pen_down = false;
  for (std::size_t i = 0; i < count; ++i) {
    const bool shown = x.has(line.x[i]) && y.has(line.y[i]);
    if (shown) {
      const double right = x.on_paper(x.mark(line.x[i]));
      const double down = y.on_paper(y.mark(line.y[i]));
      // a point between gaps is a line of no length with round ends
      path += cli::formatted(pen_down ? "L%.1f %.1f" : "M%.1f %.1fh0", right, down);
      if (count <= kMostDots)
        dots += cli::formatted("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>", right, down, color);
    }
    pen_down = shown;
  }
  return dots +
         cli::formatted("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" stroke-linecap=\"round\"/>\n",
                        path.c_str(), color) +
         cli::formatted("<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>\n", x.to + 12.0,
                        kTop + 8.0 + 18.0 * static_cast<double>(index), color,
                        internal::escaped(line.name + (path.empty() ? ": none" : "")).c_str());
}

std::string panel(const Chart& chart) {
  const Scale x(chart.lines, &ChartLine::x, chart.x.logarithmic, kLeft, kWidth - kRight);
  const Scale y(chart.lines, &ChartLine::y, chart.y.logarithmic, kHeight - kBottom, kTop);
  std::string out = frame(chart, x, y);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) out += drawn(chart.lines[i], i, x, y);
  return out;
}

}  // namespace

std::string chart_svg(const std::vector<Chart>& charts) {
  std::string out = cli::formatted(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, kHeight * static_cast<double>(charts.size()));
  for (std::size_t i = 0; i < charts.size(); ++i)
    out += cli::formatted("<g transform=\"translate(0 %.0f)\">\n", kHeight * static_cast<double>(i)) +
           panel(charts[i]) + "</g>\n";
  return out + "</svg>\n";
}

}  // namespace tangere::experiments
