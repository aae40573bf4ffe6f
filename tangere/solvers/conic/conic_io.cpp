#include <charconv>
#include <istream>
#include <ostream>
#include <sstream>
#include <string>

#include "tangere/math/error.hpp"
#include "tangere/solvers/conic/conic.hpp"

namespace tangere {
namespace {

constexpr std::string_view kHeader = "tangere-conic-program 1";
constexpr int kMostRows = 100000;

void write_number(std::ostream& out, double value) {
  char text[64];
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  out.write(text, end.ptr - text);
}

template <class Row>
void write_row(std::ostream& out, const Row& row) {
  for (Eigen::Index i = 0; i < row.size(); ++i) {
    if (i > 0) out.put(' ');
    write_number(out, row(i));
  }
  out.put('\n');
}

/// Reads the text line by line and knows where it is.
class Reader {
 public:
  explicit Reader(std::istream& in) : in_(in) {}

  std::string line(std::string_view what) {
    std::string text;
    if (!std::getline(in_, text)) fail(std::string(what) + " is missing: the text ends here");
    ++number_;
    if (!text.empty() && text.back() == '\r') text.pop_back();
    return text;
  }
  /// `count` numbers on one line.
  VectorX numbers(std::string_view what, Eigen::Index count) {
    const std::string text = line(what);
    VectorX values(count);
    const char* next = text.data();
    const char* const end = next + text.size();
    for (Eigen::Index i = 0; i < count; ++i) {
      while (next != end && *next == ' ') ++next;
      const std::from_chars_result result = std::from_chars(next, end, values[i]);
      if (result.ec != std::errc{}) fail(std::string(what) + " must be " + std::to_string(count) + " numbers");
      next = result.ptr;
    }
    while (next != end && *next == ' ') ++next;
    if (next != end) fail(std::string(what) + " has more than " + std::to_string(count) + " numbers");
    return values;
  }
  int count(std::string_view what, int most) {
    const double value = numbers(what, 1)[0];
    if (!(value >= 0 && value <= most) || value != static_cast<int>(value)) {
      fail(std::string(what) + " must be a whole number from 0 to " + std::to_string(most));
    }
    return static_cast<int>(value);
  }
  [[noreturn]] void fail(const std::string& reason) const {
    throw InputError("conic program, line " + std::to_string(number_), reason);
  }

 private:
  std::istream& in_;
  int number_ = 0;
};

}  // namespace

void write_conic_program(std::ostream& out, const ConicProgram& program) {
  out << kHeader << '\n' << program.c.size() << '\n' << program.num_orthant << '\n' << program.cones.size() << '\n';
  for (std::size_t k = 0; k < program.cones.size(); ++k) out << (k > 0 ? " " : "") << program.cones[k];
  out.put('\n');
  write_row(out, program.c);
  write_row(out, program.h);
  for (Eigen::Index i = 0; i < program.G.rows(); ++i) write_row(out, program.G.row(i));
}

ConicProgram read_conic_program(std::istream& in) {
  Reader reader(in);
  if (reader.line("header") != kHeader) reader.fail("must read '" + std::string(kHeader) + "'");
  ConicProgram program;
  const int n = reader.count("number of variables", kMostRows);
  program.num_orthant = reader.count("number of orthant rows", kMostRows);
  const int num_cones = reader.count("number of cones", kMostRows);
  const VectorX dimensions = reader.numbers("cone dimensions", num_cones);
  int rows = program.num_orthant;
  for (int k = 0; k < num_cones; ++k) {
    const double dimension = dimensions[k];
    if (!(dimension >= 2 && dimension <= kMostRows) || dimension != static_cast<int>(dimension)) {
      reader.fail("cone dimensions must be whole numbers, at least 2");
    }
    program.cones.push_back(static_cast<int>(dimension));
    rows += program.cones.back();
  }
  program.c = reader.numbers("c", n);
  program.h = reader.numbers("h", rows);
  program.G.resize(rows, n);
  for (int i = 0; i < rows; ++i) program.G.row(i) = reader.numbers("row of G", n).transpose();
  program.verify();
  return program;
}

}  // namespace tangere
