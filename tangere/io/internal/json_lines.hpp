#pragma once

/// Questions as JSON lines: one object in, one object out, errors as objects too (private to io).

#include <exception>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "tangere/io/query.hpp"
#include "tangere/io/text/json_reader.hpp"

namespace tangere::internal {

using Json = nlohmann::ordered_json;

template <class Derived>
[[nodiscard]] Json array_of(const Eigen::MatrixBase<Derived>& v) {
  Json array = Json::array();
  for (Eigen::Index i = 0; i < v.size(); ++i) array.push_back(v[i]);
  return array;
}

/// One line; text that is not UTF-8 (it can only come from messages) is replaced, numbers that are not finite are null.
[[nodiscard]] inline std::string line_of(const Json& out) {
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

[[nodiscard]] inline Json error_at(std::size_t line_number, const std::string& field, const std::string& message) {
  Json error = {{"line", line_number}};
  if (!field.empty()) error["field"] = field;
  error["message"] = message;
  return error;
}

/// Calls answer(root, out) for the line's object. Whatever it throws becomes the answer's `error`, beside the `id`.
template <class F>
[[nodiscard]] QueryAnswer answer_line(std::string_view line, std::size_t line_number, F&& answer) {
  if (line.size() > kMaxQueryLine) return answer_long_query_line(line_number);
  Json out = Json::object();
  try {
    const JsonDocument document(line);
    const JsonValue root = document.root();
    // the id first: errors carry it too
    if (const auto id = root.find("id")) out["id"] = Json::parse(id->identifier());
    answer(root, out);
    return {line_of(out), true};
  } catch (const JsonSyntaxError& error) {
    out["error"] = {
        {"line", line_number}, {"column", error.column()}, {"message", "malformed JSON: " + error.reason()}};
  } catch (const InputError& error) {
    out["error"] = error_at(line_number, error.field(), error.reason());
  } catch (const std::exception& error) {
    out["error"] = error_at(line_number, "", std::string("internal error: ") + error.what());
  }
  return {line_of(out), false};
}

}  // namespace tangere::internal
