#pragma once

/// Reading XML with errors that say where: every element knows its file, its line and its path
/// (`robot/link[upper_arm]/collision`), and whatever is wrong with it is an InputError with `file:line: path` as its
/// field. What was asked for is remembered, so that the rest can be reported. Not installed; the XML library stays in
/// the source file.
///
///   const XmlDocument document = XmlDocument::load("robot.xml");
///   for (const XmlElement& link : document.root().children("link")) {
///     const std::string name = link.text("name");
///     const double mass = link.find_number("mass").value_or(1.0);
///   }
///   for (const Notice& notice : document.unused()) …

#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tangere/io/robot_file.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/types.hpp"

namespace tangere::internal {

inline constexpr std::size_t kMaxXmlBytes = std::size_t{64} << 20;
/// Elements inside each other, the root one of them. The XML library of some distributions stops at 100, and counts the
/// document and the end as levels.
inline constexpr int kMaxXmlDepth = 98;

/// An element of a document. Cheap to copy; keeps its document alive.
class XmlElement {
 public:
  [[nodiscard]] std::string name() const;
  [[nodiscard]] const std::string& file() const;
  [[nodiscard]] int line() const;
  /// The elements from the root down, with their `name` where they have one (a <default> its `class`).
  [[nodiscard]] std::string path() const;
  /// `file:line: path`.
  [[nodiscard]] std::string place() const;
  /// The same with an attribute, at its own line: `file:line: path.attribute`.
  [[nodiscard]] std::string place(const char* attribute) const;
  /// Throws InputError with this element's (or attribute's) place.
  [[noreturn]] void fail(const std::string& reason) const;
  [[noreturn]] void fail(const char* attribute, const std::string& reason) const;
  /// A notice about this element.
  [[nodiscard]] Notice notice(std::string text, NoticeRank rank = NoticeRank::motion) const;
  /// Runs `f`; an InputError it throws gets this element's place before its field. For errors that have no place yet.
  template <class F>
  decltype(auto) located(F&& f) const {
    try {
      return std::forward<F>(f)();
    } catch (const InputError& error) {
      throw InputError(place() + ": " + error.field(), error.reason());
    }
  }
  [[nodiscard]] bool operator==(const XmlElement& other) const { return node_ == other.node_; }

  // attributes: `find_…` answers nothing if there is none, the others throw; a value that cannot be read always throws.
  // Whatever is looked at counts as used.

  [[nodiscard]] bool has(const char* attribute) const;
  [[nodiscard]] std::optional<std::string> find_text(const char* attribute) const;
  [[nodiscard]] std::string text(const char* attribute) const;
  /// A finite number with nothing behind it.
  [[nodiscard]] std::optional<double> find_number(const char* attribute) const;
  [[nodiscard]] double number(const char* attribute) const;
  /// The same, or an infinity (`inf`, `-inf`).
  [[nodiscard]] std::optional<double> find_limit(const char* attribute) const;
  /// A whole number.
  [[nodiscard]] std::optional<int> find_integer(const char* attribute) const;
  /// Finite numbers with blanks between: at least `least` and at most `most` (negative: any number).
  [[nodiscard]] std::optional<VectorX> find_numbers(const char* attribute, int least = 0, int most = -1) const;
  [[nodiscard]] VectorX numbers(const char* attribute, int least = 0, int most = -1) const;
  [[nodiscard]] std::optional<Vector3> find_vector3(const char* attribute) const;
  [[nodiscard]] Vector3 vector3(const char* attribute) const;
  /// `true`, `false`, `1` or `0`.
  [[nodiscard]] std::optional<bool> find_boolean(const char* attribute) const;
  /// One of the `known` words.
  [[nodiscard]] std::optional<std::string> find_word(const char* attribute,
                                                     std::initializer_list<std::string_view> known) const;
  /// Names of all attributes, in their order. Marks nothing as used.
  [[nodiscard]] std::vector<std::string> attribute_names() const;

  // children

  /// Every child element, used from now on.
  [[nodiscard]] std::vector<XmlElement> children() const;
  /// The children of a name, used from now on.
  [[nodiscard]] std::vector<XmlElement> children(std::string_view name) const;
  /// The only child of a name; throws if there are several.
  [[nodiscard]] std::optional<XmlElement> find_child(std::string_view name) const;
  [[nodiscard]] XmlElement child(std::string_view name) const;
  /// The text between the tags, without blanks at its ends.
  [[nodiscard]] std::string content() const;

  // what counts as used

  /// Attributes that are known and need no notice.
  void use(std::initializer_list<const char*> attributes) const;
  /// This element will be reported as unused.
  void mark_unused() const;
  /// Everything in this element, of whatever depth, needs no notice (any more).
  void use_all() const;

 private:
  friend class XmlDocument;
  struct Data;
  XmlElement(std::shared_ptr<Data> data, const void* node) : data_(std::move(data)), node_(node) {}

  std::shared_ptr<Data> data_;
  const void* node_;
};

/// A parsed file. Refused, with the line: what is not well-formed XML, document types and entities (`<!…>`), an
/// attribute given twice, nesting deeper than kMaxXmlDepth, files of more than kMaxXmlBytes.
class XmlDocument {
 public:
  [[nodiscard]] static XmlDocument load(const std::filesystem::path& file);
  /// `file` is what the errors say.
  [[nodiscard]] static XmlDocument parse(std::string_view text, std::string file);

  [[nodiscard]] XmlElement root() const;
  /// The attributes and child elements that nobody asked for, in the order of the file (of an element that nobody asked
  /// for, only itself).
  [[nodiscard]] std::vector<Notice> unused() const;

 private:
  explicit XmlDocument(std::shared_ptr<XmlElement::Data> data) : data_(std::move(data)) {}
  std::shared_ptr<XmlElement::Data> data_;
};

}  // namespace tangere::internal
