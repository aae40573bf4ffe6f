#include "tangere/io/text/xml_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <unordered_set>

#include <tinyxml2.h>

#include "tangere/io/robot/internal/notice_rank.hpp"
#include "tangere/io/text/text.hpp"

namespace tangere::internal {

struct XmlElement::Data {
  std::string file;
  tinyxml2::XMLDocument document{true, tinyxml2::PRESERVE_WHITESPACE};
  // attributes and elements that were asked for
  std::unordered_set<const void*> used;
};

namespace {

using tinyxml2::XMLAttribute;
using tinyxml2::XMLNode;

const tinyxml2::XMLElement& node_of(const void* node) { return *static_cast<const tinyxml2::XMLElement*>(node); }

std::string got(std::string_view text) { return ", got " + quoted(text); }

// before and after the parser
// ---------------------------------------------------------------------------------------------------------------------

/// Declarations of document types and entities, wherever they are; the parser would skip them or trip over them.
void refuse_declarations(std::string_view text, const std::string& file) {
  const auto line_of = [&](std::size_t at) { return 1 + std::count(text.begin(), text.begin() + at, '\n'); };
  const auto place = [&](std::size_t at) { return file + ":" + std::to_string(line_of(at)); };
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw InputError(place(zero), "is not XML text (UTF-8): there is a zero byte");
  for (std::size_t at = text.find("<!"); at != std::string_view::npos; at = text.find("<!", at)) {
    const std::string_view rest = text.substr(at);
    std::string_view end;
    if (rest.starts_with("<!--")) end = "-->";
    if (rest.starts_with("<![CDATA[")) end = "]]>";
    if (end.empty()) throw InputError(place(at), "document types and entities are refused" + got(rest.substr(0, 20)));
    at = text.find(end, at + 4);
    if (at == std::string_view::npos) return;  // the parser says it
  }
}

/// The parser compares each attribute of an element with all before it: this many are enough.
void refuse_crowded_tags(std::string_view text, const std::string& file) {
  constexpr int kMostAttributes = 1000;
  int line = 1;
  int attributes = 0;
  bool in_tag = false;
  char quote = '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '\n') ++line;
    if (!in_tag && text.substr(at).starts_with("<!--")) {
      const std::size_t end = text.find("-->", at + 4);
      if (end == std::string_view::npos) return;  // the parser says it
      line += static_cast<int>(std::count(text.begin() + at, text.begin() + end, '\n'));
      at = end;
    } else if (!in_tag) {
      in_tag = c == '<';
      attributes = 0;
    } else if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      in_tag = false;
    } else if (c == '=' && ++attributes > kMostAttributes) {
      throw InputError(file + ":" + std::to_string(line),
                       "an element has more than " + std::to_string(kMostAttributes) + " attributes");
    }
  }
}

// our limit is met before the parser's, whatever the kind of the innermost element
static_assert(kMaxXmlDepth + 2 <= TINYXML2_MAX_ELEMENT_DEPTH);

std::string too_deep() { return "nested deeper than " + std::to_string(kMaxXmlDepth) + " elements"; }

std::string reason_of(const tinyxml2::XMLDocument& document) {
  switch (document.ErrorID()) {
    case tinyxml2::XML_ERROR_EMPTY_DOCUMENT:
      return "there is no XML in it";
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
      return "this element is closed by another's tag, or not at all";
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      return "an attribute is broken or given twice, or the file ends inside a tag";
    case tinyxml2::XML_ERROR_PARSING_ELEMENT:
    case tinyxml2::XML_ERROR_PARSING:
      return "is not well-formed XML, or ends too early";
    case tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED:
      return too_deep();
    default:
      return std::string("is not well-formed XML (") + document.ErrorName() + ")";
  }
}

/// The node after this one in the order of the file; follows the depth.
const XMLNode* next_of(const XMLNode* node, const XMLNode* top, int& depth) {
  if (node->FirstChild() != nullptr) {
    ++depth;
    return node->FirstChild();
  }
  while (node != top && node->NextSibling() == nullptr) {
    node = node->Parent();
    --depth;
  }
  return node == top ? nullptr : node->NextSibling();
}

/// Refuses what the parser accepts and we do not.
void check(const tinyxml2::XMLDocument& document, const std::string& file) {
  const auto fail = [&](int line, const std::string& reason) {
    throw InputError(file + ":" + std::to_string(line), reason);
  };
  int roots = 0;
  int depth = 0;
  for (const XMLNode* node = next_of(&document, &document, depth); node != nullptr;
       node = next_of(node, &document, depth)) {
    if (node->ToUnknown() != nullptr) fail(node->GetLineNum(), "document types and entities are refused");
    if (depth == 1 && node->ToText() != nullptr && !trimmed(node->Value()).empty())
      fail(node->GetLineNum(), "there is text outside the root element" + got(node->Value()));
    const tinyxml2::XMLElement* element = node->ToElement();
    if (element == nullptr) continue;
    if (depth > kMaxXmlDepth) fail(node->GetLineNum(), too_deep());
    if (depth == 1 && ++roots > 1) fail(node->GetLineNum(), "there is a second root element" + got(element->Name()));
  }
  if (roots == 0) fail(1, "there is no XML in it");
}

}  // namespace

// XmlElement
// ---------------------------------------------------------------------------------------------------------------------

std::string XmlElement::name() const { return node_of(node_).Name(); }

const std::string& XmlElement::file() const { return data_->file; }

int XmlElement::line() const { return node_of(node_).GetLineNum(); }

std::string XmlElement::path() const {
  std::vector<std::string> levels;
  for (const XMLNode* node = &node_of(node_); node != nullptr && node->ToElement() != nullptr; node = node->Parent()) {
    const char* name = node->ToElement()->Attribute("name");
    if (name == nullptr && std::string_view(node->Value()) == "default") name = node->ToElement()->Attribute("class");
    levels.push_back(excerpt(node->Value()) + (name == nullptr ? "" : "[" + excerpt(name) + "]"));
  }
  // of a deep one, the ends
  constexpr std::size_t kShown = 8;
  std::string path = levels.back();
  for (std::size_t i = levels.size() - 1; i-- > 0;) {
    if (levels.size() > kShown && i + 2 == levels.size()) path += "/...";
    if (i + 2 > kShown) continue;
    path += "/" + levels[i];
  }
  return path;
}

std::string XmlElement::place() const { return data_->file + ":" + std::to_string(line()) + ": " + path(); }

std::string XmlElement::place(const char* attribute) const {
  const XMLAttribute* found = node_of(node_).FindAttribute(attribute);
  const int at = found == nullptr ? line() : found->GetLineNum();
  return data_->file + ":" + std::to_string(at) + ": " + path() + "." + attribute;
}

void XmlElement::fail(const std::string& reason) const { throw InputError(place(), reason); }

void XmlElement::fail(const char* attribute, const std::string& reason) const {
  throw InputError(place(attribute), reason);
}

Notice XmlElement::notice(std::string text, NoticeRank rank) const {
  return {data_->file, line(), path(), std::move(text), rank};
}

bool XmlElement::has(const char* attribute) const { return find_text(attribute).has_value(); }

std::optional<std::string> XmlElement::find_text(const char* attribute) const {
  const XMLAttribute* found = node_of(node_).FindAttribute(attribute);
  if (found == nullptr) return std::nullopt;
  data_->used.insert(found);
  return found->Value();
}

std::string XmlElement::text(const char* attribute) const {
  std::optional<std::string> value = find_text(attribute);
  if (!value) fail(attribute, "is required");
  return *std::move(value);
}

std::optional<double> XmlElement::find_number(const char* attribute) const {
  const std::optional<std::string> value = find_text(attribute);
  if (!value) return std::nullopt;
  const std::optional<double> number = parse_number(*value);
  if (!number) fail(attribute, "must be a finite number" + got(*value));
  return number;
}

std::optional<double> XmlElement::find_limit(const char* attribute) const {
  const std::optional<std::string> value = find_text(attribute);
  if (!value) return std::nullopt;
  const std::optional<double> number = parse_number(*value, true);
  if (!number) fail(attribute, "must be a number or inf" + got(*value));
  return number;
}

double XmlElement::number(const char* attribute) const {
  const std::optional<double> value = find_number(attribute);
  if (!value) fail(attribute, "is required");
  return *value;
}

std::optional<int> XmlElement::find_integer(const char* attribute) const {
  const std::optional<double> value = find_number(attribute);
  if (!value) return std::nullopt;
  if (std::abs(*value) > 2147483647.0 || *value != std::floor(*value))
    fail(attribute, "must be a whole number" + got(text(attribute)));
  return static_cast<int>(*value);
}

std::optional<VectorX> XmlElement::find_numbers(const char* attribute, int least, int most) const {
  const std::optional<std::string> value = find_text(attribute);
  if (!value) return std::nullopt;
  // word by word
  std::vector<double> numbers;
  const std::string_view all = *value;
  for (std::size_t at = all.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(all.find_first_of(kBlanks, at), all.size());
    const std::string_view word = all.substr(at, end - at);
    const std::optional<double> number = parse_number(word);
    if (!number) fail(attribute, "must be finite numbers" + got(word));
    numbers.push_back(*number);
    at = all.find_first_not_of(kBlanks, end);
  }
  const int count = static_cast<int>(numbers.size());
  if (count < least || (most >= 0 && count > most)) {
    std::string wanted = std::to_string(least);
    if (most < 0) wanted = "at least " + wanted;
    if (most > least) wanted += " to " + std::to_string(most);
    fail(attribute, "must be " + wanted + " numbers" + got(*value));
  }
  return VectorX(Eigen::Map<const Eigen::VectorXd>(numbers.data(), count));
}

VectorX XmlElement::numbers(const char* attribute, int least, int most) const {
  std::optional<VectorX> value = find_numbers(attribute, least, most);
  if (!value) fail(attribute, "is required");
  return *std::move(value);
}

std::optional<Vector3> XmlElement::find_vector3(const char* attribute) const {
  const std::optional<VectorX> value = find_numbers(attribute, 3, 3);
  if (!value) return std::nullopt;
  return Vector3(*value);
}

Vector3 XmlElement::vector3(const char* attribute) const { return numbers(attribute, 3, 3); }

std::optional<bool> XmlElement::find_boolean(const char* attribute) const {
  const std::optional<std::string> value = find_text(attribute);
  if (!value) return std::nullopt;
  const std::string_view word = trimmed(*value);
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0") return false;
  fail(attribute, "must be true or false" + got(*value));
}

std::optional<std::string> XmlElement::find_word(const char* attribute,
                                                 std::initializer_list<std::string_view> known) const {
  const std::optional<std::string> value = find_text(attribute);
  if (!value) return std::nullopt;
  const std::string_view word = trimmed(*value);
  if (std::find(known.begin(), known.end(), word) != known.end()) return std::string(word);
  std::string words;
  for (const std::string_view w : known) words += (words.empty() ? "" : ", ") + std::string(w);
  fail(attribute, "must be one of " + words + got(*value));
}

std::vector<std::string> XmlElement::attribute_names() const {
  std::vector<std::string> names;
  for (const XMLAttribute* a = node_of(node_).FirstAttribute(); a != nullptr; a = a->Next())
    names.emplace_back(a->Name());
  return names;
}

std::vector<XmlElement> XmlElement::children() const {
  std::vector<XmlElement> found;
  for (const auto* e = node_of(node_).FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    data_->used.insert(e);
    found.push_back(XmlElement(data_, e));
  }
  return found;
}

std::vector<XmlElement> XmlElement::children(std::string_view name) const {
  std::vector<XmlElement> found;
  for (const auto* e = node_of(node_).FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    if (e->Name() != name) continue;
    data_->used.insert(e);
    found.push_back(XmlElement(data_, e));
  }
  return found;
}

std::optional<XmlElement> XmlElement::find_child(std::string_view name) const {
  const std::vector<XmlElement> found = children(name);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) found[1].fail("there is one already");
  return found[0];
}

XmlElement XmlElement::child(std::string_view name) const {
  std::optional<XmlElement> found = find_child(name);
  if (!found) fail("needs an element <" + std::string(name) + ">");
  return *std::move(found);
}

std::string XmlElement::content() const {
  std::string text;
  for (const XMLNode* node = node_of(node_).FirstChild(); node != nullptr; node = node->NextSibling())
    if (node->ToText() != nullptr) {
      text += node->Value();
      data_->used.insert(node);
    }
  return std::string(trimmed(text));
}

void XmlElement::use(std::initializer_list<const char*> attributes) const {
  for (const char* attribute : attributes)
    if (const XMLAttribute* found = node_of(node_).FindAttribute(attribute); found != nullptr)
      data_->used.insert(found);
}

void XmlElement::mark_unused() const { data_->used.erase(node_); }

void XmlElement::use_all() const {
  int depth = 0;
  const XMLNode* top = &node_of(node_);
  for (const XMLNode* node = top; node != nullptr; node = next_of(node, top, depth)) {
    data_->used.insert(node);
    if (node->ToElement() == nullptr) continue;
    for (const XMLAttribute* a = node->ToElement()->FirstAttribute(); a != nullptr; a = a->Next())
      data_->used.insert(a);
  }
}

// XmlDocument
// ---------------------------------------------------------------------------------------------------------------------

XmlDocument XmlDocument::load(const std::filesystem::path& file) {
  // the size is known before anything is read
  const std::string name = file.string();
  std::error_code error;
  if (!std::filesystem::exists(file, error)) throw InputError(name, "there is no such file");
  if (!std::filesystem::is_regular_file(file, error)) throw InputError(name, "is not a file");
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) throw InputError(name, "cannot be read: " + error.message());
  if (size > kMaxXmlBytes)
    throw InputError(name, "must have at most " + std::to_string(kMaxXmlBytes >> 20) + " MB, has " +
                               std::to_string(size >> 20) + " MB");
  std::ifstream stream(file, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(size))) throw InputError(name, "cannot be read");
  return parse(text, name);
}

XmlDocument XmlDocument::parse(std::string_view text, std::string file) {
  if (text.size() > kMaxXmlBytes)
    throw InputError(file, "must have at most " + std::to_string(kMaxXmlBytes >> 20) + " MB, has " +
                               std::to_string(text.size() >> 20) + " MB");
  refuse_declarations(text, file);
  refuse_crowded_tags(text, file);
  auto data = std::make_shared<XmlElement::Data>();
  data->file = std::move(file);
  data->document.Parse(text.data(), text.size());
  if (data->document.Error()) {
    const int line = data->document.ErrorLineNum();
    throw InputError(data->file + ":" + std::to_string(std::max(line, 1)), reason_of(data->document));
  }
  check(data->document, data->file);
  return XmlDocument(std::move(data));
}

XmlElement XmlDocument::root() const { return {data_, data_->document.RootElement()}; }

std::vector<Notice> XmlDocument::unused() const {
  std::vector<Notice> notices;
  const auto* node = data_->document.RootElement();
  // depth first, into used elements only
  std::vector<const tinyxml2::XMLElement*> open{node};
  while (!open.empty()) {
    node = open.back();
    open.pop_back();
    const XmlElement element(data_, node);
    if (data_->used.count(node) > 0 || node == data_->document.RootElement()) {
      for (const XMLAttribute* a = node->FirstAttribute(); a != nullptr; a = a->Next())
        if (data_->used.count(a) == 0)
          notices.push_back({data_->file, a->GetLineNum(), element.path() + "." + excerpt(a->Name()),
                             "this attribute is not used" + got(a->Value()), rank_of_unused(node->Name(), a->Name())});
      for (const auto* child = node->FirstChild(); child != nullptr; child = child->NextSibling())
        if (child->ToText() != nullptr && !trimmed(child->Value()).empty() && data_->used.count(child) == 0)
          notices.push_back({data_->file, child->GetLineNum(), element.path(),
                             "this text between the elements is not used" + got(trimmed(child->Value())),
                             NoticeRank::unused});
      for (const auto* e = node->LastChildElement(); e != nullptr; e = e->PreviousSiblingElement()) open.push_back(e);
    } else {
      notices.push_back(element.notice("this element is not used", rank_of_unused(node->Name(), "")));
    }
  }
  return notices;
}

}  // namespace tangere::internal
