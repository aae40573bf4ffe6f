#include "tangere/io/text/json_reader.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace tangere::internal {
namespace {

using nlohmann::json;

/// The library's number for it.
constexpr int kNumberOverflow = 406;

const json& node_of(const void* node) { return *static_cast<const json*>(node); }

std::string joined_path(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

std::string indexed_path(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

/// `[json.exception.parse_error.101] parse error at line 1, column 9: syntax error …` without what we say ourselves.
std::string plain_message(const std::string& what) {
  const std::size_t column = what.find("column ");
  const std::size_t start = what.find(": ", column == std::string::npos ? 0 : column);
  return start == std::string::npos ? what : what.substr(start + 2);
}

/// Builds the document as the parser goes through the text, and knows where that is. (The library's own callback parser
/// looks through a whole array again after each of its elements.)
class DocumentBuilder : public nlohmann::json_sax<json> {
 public:
  json document;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(json::number_integer_t value) override { return add(value); }
  bool number_unsigned(json::number_unsigned_t value) override { return add(value); }
  bool number_float(json::number_float_t value, const json::string_t&) override { return add(value); }
  bool string(json::string_t& value) override { return add(std::move(value)); }
  bool binary(json::binary_t& value) override { return add(std::move(value)); }

  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(json::string_t& name) override {
    Level& level = levels_.back();
    level.key = std::move(name);
    if (level.node->contains(level.key)) throw InputError(path(), "given twice");
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const json::exception& error) override {
    if (error.id == kNumberOverflow) throw InputError(path(), "must be finite, got " + token);
    throw JsonSyntaxError(position, plain_message(error.what()));
  }

 private:
  struct Level {
    json* node;
    std::string key;
  };

  /// Path of the value being read.
  [[nodiscard]] std::string path() const {
    std::string path;
    for (const Level& level : levels_) {
      // what is open is in its place already, the value itself is not
      const std::size_t placed = &level == &levels_.back() ? 0 : 1;
      path = level.node->is_array() ? indexed_path(path, level.node->size() - placed) : joined_path(path, level.key);
    }
    return path;
  }

  [[nodiscard]] std::string short_path() const {
    const std::string full = path();
    return full.size() <= 80 ? full : full.substr(0, 77) + "...";
  }

  template <class Value>
  json* place(Value&& value) {
    if (levels_.empty()) return &(document = std::forward<Value>(value));
    const Level& level = levels_.back();
    if (level.node->is_object()) return &((*level.node)[level.key] = std::forward<Value>(value));
    return &level.node->emplace_back(std::forward<Value>(value));
  }

  template <class Value>
  bool add(Value&& value) {
    place(std::forward<Value>(value));
    return true;
  }

  bool open(json empty) {
    if (levels_.size() >= kMaxJsonDepth)
      throw InputError(short_path(), "nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    levels_.push_back({place(std::move(empty)), {}});
    return true;
  }

  bool close() {
    levels_.pop_back();
    return true;
  }

  std::vector<Level> levels_;
};

/// How far the parser has come. A number ends with the character behind it, which may be the end of its line.
struct Position {
  int line = 1;
  int line_before_last = 1;
};

/// Goes through a text and keeps a position up to date.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, Position* position) : at_(at), position_(position) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    position_->line_before_last = position_->line;
    if (*at_++ == '\n') ++position_->line;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  Position* position_;
};

/// Follows a path into a document as far as it goes, past everything beside it. (Of a key that is given twice, the
/// second: it is the one that is too many.)
class LineFinder : public nlohmann::json_sax<json> {
 public:
  LineFinder(std::string_view wanted, const Position& position) : wanted_(wanted), position_(position) {}

  [[nodiscard]] int line() const { return line_; }

  bool null() override { return scalar(position_.line); }
  bool boolean(bool) override { return scalar(position_.line); }
  bool number_integer(json::number_integer_t) override { return scalar(position_.line_before_last); }
  bool number_unsigned(json::number_unsigned_t) override { return scalar(position_.line_before_last); }
  bool number_float(json::number_float_t, const json::string_t&) override { return scalar(position_.line_before_last); }
  bool string(json::string_t&) override { return scalar(position_.line); }
  bool binary(json::binary_t&) override { return scalar(position_.line); }

  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(json::string_t& name) override {
    if (beside_ == 0) levels_.back().key = std::move(name);
    return true;
  }

  /// A number that is too large is the value itself; whatever else, the path ends before it.
  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    if (error.id == kNumberOverflow) (void)scalar(position_.line_before_last);
    return false;
  }

 private:
  struct Level {
    std::string path;
    bool is_array;
    std::size_t next;
    std::string key;
  };

  std::string next_path() {
    if (levels_.empty()) return {};
    Level& level = levels_.back();
    return level.is_array ? indexed_path(level.path, level.next++) : joined_path(level.path, level.key);
  }

  [[nodiscard]] bool leads_to_wanted(std::string_view path) const {
    if (!wanted_.starts_with(path)) return false;
    return path.empty() || path.size() == wanted_.size() || wanted_[path.size()] == '.' || wanted_[path.size()] == '[';
  }

  bool visit(const std::string& path, int line) {
    if (!leads_to_wanted(path)) return false;
    if (path.size() >= longest_) {
      longest_ = path.size();
      line_ = line;
    }
    return true;
  }

  bool scalar(int line) {
    if (beside_ == 0) (void)visit(next_path(), line);
    return true;
  }

  bool open(bool is_array) {
    std::string path = beside_ == 0 ? next_path() : std::string();
    if (beside_ > 0 || !visit(path, position_.line))
      ++beside_;
    else
      levels_.push_back({std::move(path), is_array, 0, {}});
    return true;
  }

  bool close() {
    if (beside_ > 0)
      --beside_;
    else
      levels_.pop_back();
    return true;
  }

  std::string_view wanted_;
  const Position& position_;
  std::vector<Level> levels_;
  /// How many levels deep in something that the path does not lead through.
  int beside_ = 0;
  std::size_t longest_ = 0;
  int line_ = 1;
};

json parse(std::string_view text) {
  DocumentBuilder builder;
  json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder.document);
}

}  // namespace

JsonSyntaxError::JsonSyntaxError(std::size_t column, const std::string& reason)
    : InputError("JSON", reason + (column > 0 ? " (column " + std::to_string(column) + ")" : "")), column_(column) {}

int json_line(std::string_view text, std::string_view path) {
  Position position;
  LineFinder finder(path, position);
  json::sax_parse(CountingIterator(text.data(), &position), CountingIterator(text.data() + text.size(), &position),
                  &finder);
  return finder.line();
}

void throw_with_line(const InputError& error, std::string_view text, const std::string& file) {
  const std::string place = file + ":" + std::to_string(json_line(text, error.field()));
  throw InputError(error.field().empty() ? place : place + ": " + error.field(), error.reason());
}

void throw_with_line(const JsonSyntaxError& error, std::string_view text, const std::string& file) {
  // the parser counts bytes
  const std::size_t before = std::min(std::max<std::size_t>(error.column(), 1) - 1, text.size());
  const auto line = 1 + std::count(text.begin(), text.begin() + before, '\n');
  throw InputError(file + ":" + std::to_string(line), error.reason());
}

std::string joined(std::initializer_list<std::string_view> words) {
  std::string text;
  for (std::string_view word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

void JsonValue::fail(const std::string& reason) const { throw InputError(path_, reason); }

void JsonValue::require_fields(std::initializer_list<std::string_view> known) const {
  const json& node = node_of(node_);
  if (!node.is_object()) fail(std::string("must be an object, got ") + node.type_name());
  for (const auto& [key, value] : node.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw InputError(joined_path(path_, key), "unknown field; known: " + joined(known));
}

bool JsonValue::has(std::string_view key) const { return find(key).has_value(); }

JsonValue JsonValue::at(std::string_view key) const {
  std::optional<JsonValue> value = find(key);
  if (!value) throw InputError(joined_path(path_, key), "is required");
  return *std::move(value);
}

std::optional<JsonValue> JsonValue::find(std::string_view key) const {
  const json& node = node_of(node_);
  if (!node.is_object()) fail(std::string("must be an object, got ") + node.type_name());
  const auto found = node.find(key);
  if (found == node.end()) return std::nullopt;
  return JsonValue(&*found, joined_path(path_, key));
}

std::size_t JsonValue::size() const {
  const json& node = node_of(node_);
  if (!node.is_array()) fail(std::string("must be an array, got ") + node.type_name());
  return node.size();
}

JsonValue JsonValue::operator[](std::size_t index) const {
  return {&node_of(node_).at(index), indexed_path(path_, index)};
}

VectorX JsonValue::numbers(int length) const {
  const json& node = node_of(node_);
  const std::string wanted = length < 0 ? "an array of numbers" : std::to_string(length) + " numbers";
  if (!node.is_array()) fail("must be " + wanted + ", got " + node.type_name());
  if (length >= 0 && node.size() != static_cast<std::size_t>(length))
    fail("must be " + wanted + ", got " + std::to_string(node.size()));
  VectorX values(static_cast<Eigen::Index>(node.size()));
  for (std::size_t i = 0; i < node.size(); ++i) {
    if (!node[i].is_number()) (*this)[i].fail(std::string("must be a number, got ") + node[i].type_name());
    values[static_cast<Eigen::Index>(i)] = node[i].get<double>();
  }
  return values;
}

MatrixX JsonValue::rows(int columns, int count) const {
  const json& node = node_of(node_);
  const std::string each = " rows of " + std::to_string(columns) + " numbers";
  const std::string wanted = count < 0 ? "an array of" + each : std::to_string(count) + each;
  if (!node.is_array()) fail("must be " + wanted + ", got " + node.type_name());
  if (count >= 0 && node.size() != static_cast<std::size_t>(count))
    fail("must be " + wanted + ", got " + std::to_string(node.size()));
  MatrixX matrix(static_cast<Eigen::Index>(node.size()), columns);
  for (std::size_t i = 0; i < node.size(); ++i)
    matrix.row(static_cast<Eigen::Index>(i)) = (*this)[i].numbers(columns).transpose();
  return matrix;
}

bool JsonValue::is_null() const { return node_of(node_).is_null(); }

int JsonValue::integer(int lowest, int highest) const {
  const double value = number();
  if (!(value >= lowest && value <= highest) || value != std::floor(value))
    fail("must be a whole number from " + std::to_string(lowest) + " to " + std::to_string(highest));
  return static_cast<int>(value);
}

std::vector<std::string> JsonValue::keys() const {
  const json& node = node_of(node_);
  if (!node.is_object()) fail(std::string("must be an object, got ") + node.type_name());
  std::vector<std::string> keys;
  for (const auto& [key, value] : node.items()) keys.push_back(key);
  return keys;
}

double JsonValue::number() const {
  const json& node = node_of(node_);
  if (!node.is_number()) fail(std::string("must be a number, got ") + node.type_name());
  return node.get<double>();
}

bool JsonValue::boolean() const {
  const json& node = node_of(node_);
  if (!node.is_boolean()) fail(std::string("must be true or false, got ") + node.type_name());
  return node.get<bool>();
}

std::string JsonValue::text() const {
  const json& node = node_of(node_);
  if (!node.is_string()) fail(std::string("must be a string, got ") + node.type_name());
  return node.get<std::string>();
}

std::string JsonValue::word(std::initializer_list<std::string_view> known) const {
  std::string given = text();
  if (std::find(known.begin(), known.end(), given) == known.end())
    fail("must be one of " + joined(known) + ", got '" + given + "'");
  return given;
}

std::string JsonValue::identifier() const {
  const json& node = node_of(node_);
  if (!node.is_string() && !node.is_number())
    fail(std::string("must be a string or a number, got ") + node.type_name());
  return node.dump();
}

struct JsonDocument::Data {
  json root;
};

JsonDocument::JsonDocument(std::string_view text) : data_("JsonDocument", std::make_unique<Data>(Data{parse(text)})) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

JsonValue JsonDocument::root(std::string path) const { return {&data_->root, std::move(path)}; }

}  // namespace tangere::internal
