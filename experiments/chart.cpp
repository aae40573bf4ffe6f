#include "experiments/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "apps/cli/text.hpp"

namespace tangere::experiments {
namespace {

constexpr double kWidth = 640.0;
constexpr double kHeight = 400.0;
constexpr double kLeft = 70.0;
constexpr double kRight = 110.0;
constexpr double kTop = 40.0;
constexpr double kBottom = 55.0;
constexpr std::array kColors = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#7f7f7f"};

/// 1, 2 or 5 times a power of ten, at least `x`.
double round_up(double x) {
  const double decade = std::pow(10.0, std::floor(std::log10(x)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= x) return factor * decade;
  return 10.0 * decade;
}

struct Axis {
  double low = 0.0;
  double high = 1.0;
  double tick = 1.0;
  bool logarithmic = false;

  Axis(const std::vector<ChartLine>& lines, bool by_decades) : logarithmic(by_decades) {
    double largest = 0.0;
    double smallest = std::numeric_limits<double>::infinity();
    for (const ChartLine& line : lines) {
      for (const double value : line.values) {
        if (!std::isfinite(value)) continue;
        largest = std::max(largest, value);
        if (value > 0.0) smallest = std::min(smallest, value);
      }
    }
    if (!(largest > 0.0)) return;
    if (logarithmic) {
      low = std::floor(std::log10(smallest));
      high = std::max(low + 1.0, std::ceil(std::log10(largest)));
      tick = std::ceil((high - low) / 8.0);
    } else {
      tick = round_up(largest / 6.0);
      high = tick * std::ceil(largest / tick);
    }
  }

  [[nodiscard]] bool has(double value) const { return std::isfinite(value) && (!logarithmic || value > 0.0); }
  [[nodiscard]] double height(double value) const {
    const double part = ((logarithmic ? std::log10(value) : value) - low) / (high - low);
    return kHeight - kBottom - part * (kHeight - kTop - kBottom);
  }
  [[nodiscard]] std::string label(double at) const {
    return logarithmic ? cli::formatted("1e%.0f", at) : cli::formatted("%g", at);
  }
  [[nodiscard]] double value(double at) const { return logarithmic ? std::pow(10.0, at) : at; }
};

}  // namespace

std::string line_chart(const std::string& title, const std::string& columns_title, const std::string& values_title,
                       const std::vector<std::string>& columns, const std::vector<ChartLine>& lines, bool logarithmic) {
  const Axis axis(lines, logarithmic);
  const double width = kWidth - kLeft - kRight;
  const auto x = [&](std::size_t column) {
    return columns.size() < 2 ? kLeft + 0.5 * width
                              : kLeft + width * static_cast<double>(column) / static_cast<double>(columns.size() - 1);
  };
  std::string out = cli::formatted(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
      "<text x=\"%.0f\" y=\"22\" font-size=\"15\" text-anchor=\"middle\">%s</text>\n"
      "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n"
      "<text transform=\"translate(18 %.0f) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
      kWidth, kHeight, kLeft + 0.5 * width, title.c_str(), kLeft + 0.5 * width, kHeight - 14.0, columns_title.c_str(),
      0.5 * (kTop + kHeight - kBottom), values_title.c_str());
  for (double at = axis.low; at <= axis.high + 1e-9 * axis.tick; at += axis.tick) {
    const double y = axis.height(axis.value(at));
    out += cli::formatted(
        "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
        kLeft, kLeft + width, y, y, kLeft - 6.0, y + 4.0, axis.label(at).c_str());
  }
  for (std::size_t c = 0; c < columns.size(); ++c)
    out += cli::formatted("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", x(c),
                          kHeight - kBottom + 18.0, columns[c].c_str());
  for (std::size_t l = 0; l < lines.size(); ++l) {
    const char* color = kColors[l % kColors.size()];
    std::string points;
    for (std::size_t c = 0; c < std::min(columns.size(), lines[l].values.size()); ++c) {
      if (!axis.has(lines[l].values[c])) continue;
      const double y = axis.height(lines[l].values[c]);
      points += cli::formatted("%.1f,%.1f ", x(c), y);
      out += cli::formatted("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>", x(c), y, color);
    }
    out += cli::formatted("<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
                          points.c_str(), color);
    out += cli::formatted("<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">%s</text>\n", kLeft + width + 12.0,
                          kTop + 8.0 + 18.0 * static_cast<double>(l), color, lines[l].name.c_str());
  }
  return out + "</svg>\n";
}

}  // namespace tangere::experiments
