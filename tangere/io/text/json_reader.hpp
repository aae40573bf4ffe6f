#pragma once

/// Reading JSON with errors that say where: every value knows its path (`b.shape.parts[1].shape.radius`), and whatever
/// is wrong with it is an InputError with that path as its field. Not installed; the JSON library stays in the source
/// file.

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tangere/math/error.hpp"
#include "tangere/math/owned.hpp"
#include "tangere/math/types.hpp"

namespace tangere::internal {

/// Text that is not JSON. `column` counts bytes from 1; 0 where the parser does not say.
class JsonSyntaxError : public InputError {
 public:
  JsonSyntaxError(std::size_t column, const std::string& reason);
  [[nodiscard]] std::size_t column() const { return column_; }

 private:
  std::size_t column_;
};

/// A value inside a document, which must outlive it.
class JsonValue {
 public:
  JsonValue(const void* node, std::string path) : node_(node), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Throws InputError with this value's path.
  [[noreturn]] void fail(const std::string& reason) const;

  // objects

  /// Throws unless this is an object all of whose keys are `known`.
  void require_fields(std::initializer_list<std::string_view> known) const;
  [[nodiscard]] bool has(std::string_view key) const;
  /// Throws if the key is missing.
  [[nodiscard]] JsonValue at(std::string_view key) const;
  [[nodiscard]] std::optional<JsonValue> find(std::string_view key) const;

  /// The keys, sorted.
  [[nodiscard]] std::vector<std::string> keys() const;

  // arrays

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] JsonValue operator[](std::size_t index) const;
  /// An array of numbers, of the given length unless that is negative.
  [[nodiscard]] VectorX numbers(int length = -1) const;
  /// An array of rows of `columns` numbers; `count` of them unless that is negative.
  [[nodiscard]] MatrixX rows(int columns, int count = -1) const;

  // scalars

  [[nodiscard]] bool is_null() const;
  [[nodiscard]] double number() const;
  /// A whole number from `lowest` to `highest`.
  [[nodiscard]] int integer(int lowest, int highest) const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string text() const;
  /// One of the `known` words.
  [[nodiscard]] std::string word(std::initializer_list<std::string_view> known) const;
  /// A string or a number, as JSON text.
  [[nodiscard]] std::string identifier() const;

 private:
  const void* node_;
  std::string path_;
};

/// Parses JSON text. Refused, besides what is not JSON: a key twice in one object, numbers too large for a double,
/// nesting deeper than `kMaxJsonDepth`.
class JsonDocument {
 public:
  explicit JsonDocument(std::string_view text);
  ~JsonDocument();
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;

  /// `path` is what the errors start with.
  [[nodiscard]] JsonValue root(std::string path = "") const;

 private:
  struct Data;
  Owned<Data> data_;
};

inline constexpr int kMaxJsonDepth = 256;

/// The line, from 1, of the value at a path, or of the nearest one around it that is there. Reads the text once more:
/// for errors only, so that documents need not keep lines.
[[nodiscard]] int json_line(std::string_view text, std::string_view path);

/// Throws an error about a document with the file and the line before its path: `file:line: path`.
[[noreturn]] void throw_with_line(const InputError& error, std::string_view text, const std::string& file);
[[noreturn]] void throw_with_line(const JsonSyntaxError& error, std::string_view text, const std::string& file);

/// Runs `f`, which reads a document of this text; what it refuses gets file and line.
template <class F>
decltype(auto) with_json_lines(std::string_view text, const std::string& file, F&& f) {
  try {
    return f();
  } catch (const JsonSyntaxError& error) {
    throw_with_line(error, text, file);
  } catch (const InputError& error) {
    throw_with_line(error, text, file);
  }
}

/// `a, b, c`.
[[nodiscard]] std::string joined(std::initializer_list<std::string_view> words);

}  // namespace tangere::internal
