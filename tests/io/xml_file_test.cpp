#include "tangere/io/text/xml_file.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>

#include <fstream>

namespace tangere::internal {
namespace {

XmlDocument parsed(const std::string& text) { return XmlDocument::parse(text, "a.xml"); }

/// The message of the InputError that `f` throws; empty if it throws none.
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string error_of(const std::string& text) {
  return message_of([&] { (void)parsed(text); });
}

TEST(XmlFile, ValuesOfEveryType) {
  const XmlDocument document = parsed(
      "<?xml version='1.0'?>\n<!-- <!DOCTYPE in a comment> -->\n"
      "<a n=' +1.5e1 ' v='1 .5\n-2.' b='true' c='0' s='x &amp; y' i='3' w='one'> text <![CDATA[<!x>]]> </a>\n");
  const XmlElement root = document.root();
  EXPECT_EQ(root.name(), "a");
  EXPECT_EQ(root.line(), 3);
  EXPECT_EQ(root.number("n"), 15.0);
  EXPECT_EQ(root.vector3("v"), Vector3(1.0, 0.5, -2.0));
  EXPECT_EQ(root.numbers("v").size(), 3);
  EXPECT_EQ(root.find_boolean("b"), true);
  EXPECT_EQ(root.find_boolean("c"), false);
  EXPECT_EQ(root.text("s"), "x & y");
  EXPECT_EQ(root.find_integer("i"), 3);
  EXPECT_EQ(root.find_word("w", {"one", "two"}), "one");
  EXPECT_EQ(root.content(), "text <!x>");
  EXPECT_FALSE(root.find_number("none"));
  EXPECT_FALSE(root.find_vector3("none"));
  EXPECT_TRUE(document.unused().empty());
}

TEST(XmlFile, WrongValuesNameFileLineAndAttribute) {
  const XmlElement e =
      parsed("<a>\n<b name='arm' x='1 m' y='nan'\n z='inf' v='1 2' w='1 2 3k' i='1.5' big='1e999'/></a>")
          .root()
          .child("b");
  EXPECT_EQ(message_of([&] { (void)e.number("x"); }), "a.xml:2: a/b[arm].x: must be a finite number, got '1 m'");
  EXPECT_EQ(message_of([&] { (void)e.number("y"); }), "a.xml:2: a/b[arm].y: must be a finite number, got 'nan'");
  EXPECT_EQ(message_of([&] { (void)e.number("z"); }), "a.xml:3: a/b[arm].z: must be a finite number, got 'inf'");
  EXPECT_EQ(message_of([&] { (void)e.number("big"); }), "a.xml:3: a/b[arm].big: must be a finite number, got '1e999'");
  EXPECT_EQ(message_of([&] { (void)e.vector3("v"); }), "a.xml:3: a/b[arm].v: must be 3 numbers, got '1 2'");
  EXPECT_EQ(message_of([&] { (void)e.numbers("v", 3); }), "a.xml:3: a/b[arm].v: must be at least 3 numbers, got '1 2'");
  EXPECT_EQ(message_of([&] { (void)e.numbers("v", 0, 1); }), "a.xml:3: a/b[arm].v: must be 0 to 1 numbers, got '1 2'");
  EXPECT_EQ(message_of([&] { (void)e.vector3("w"); }), "a.xml:3: a/b[arm].w: must be finite numbers, got '3k'");
  EXPECT_EQ(message_of([&] { (void)e.find_integer("i"); }), "a.xml:3: a/b[arm].i: must be a whole number, got '1.5'");
  EXPECT_EQ(message_of([&] { (void)e.find_boolean("v"); }), "a.xml:3: a/b[arm].v: must be true or false, got '1 2'");
  EXPECT_EQ(message_of([&] {
              (void)e.find_word("v", {"p", "q"});
            }),
            "a.xml:3: a/b[arm].v: must be one of p, q, got '1 2'");
  EXPECT_EQ(message_of([&] { (void)e.number("none"); }), "a.xml:2: a/b[arm].none: is required");
  EXPECT_EQ(message_of([&] { (void)e.child("c"); }), "a.xml:2: a/b[arm]: needs an element <c>");
  EXPECT_EQ(message_of([&] { e.located([] { throw InputError("sphere.radius", "must be positive"); }); }),
            "a.xml:2: a/b[arm]: sphere.radius: must be positive");
}

TEST(XmlFile, BrokenTextIsRefusedWithItsLine) {
  EXPECT_EQ(error_of(""), "a.xml:1: there is no XML in it");
  EXPECT_EQ(error_of("<!-- only -->"), "a.xml:1: there is no XML in it");
  for (const char* text : {"<a>\n<b>\n<c x='1'>\n", "<a>\n<b x='1", "<a>\n<b", "<a>\n</b>", "no xml", "<a/>\nmore"}) {
    const std::string error = error_of(text);
    EXPECT_TRUE(error.starts_with("a.xml:")) << text << ": " << error;
  }
  EXPECT_EQ(error_of("<a/>\n<b/>"), "a.xml:2: there is a second root element, got 'b'");
  EXPECT_EQ(error_of("<a>\n<b x='1' x='2'/></a>"),
            "a.xml:2: an attribute is broken or given twice, or the file ends inside a tag");
  EXPECT_EQ(error_of(std::string("<a>\n\0</a>", 9)), "a.xml:2: is not XML text (UTF-8): there is a zero byte");
}

TEST(XmlFile, BombsAreRefused) {
  const std::string entities =
      "<?xml version='1.0'?>\n<!DOCTYPE a [\n<!ENTITY x 'xxxxxxxx'>\n<!ENTITY y '&x;&x;&x;'>\n]>\n<a>&y;</a>";
  EXPECT_TRUE(error_of(entities).starts_with("a.xml:2: document types and entities are refused")) << error_of(entities);
  EXPECT_TRUE(error_of("<a>\n<!ENTITY x 'y'></a>").starts_with("a.xml:2: document types")) << error_of(entities);
}

TEST(XmlFile, NestingHasOneLimit) {
  const auto nested = [](int depth, const std::string& innermost) {
    std::string text;
    for (int i = 1; i < depth; ++i) text += "<a>\n";
    text += innermost;
    for (int i = 1; i < depth; ++i) text += "</a>";
    return text;
  };
  for (const char* innermost : {"<b/>", "<b></b>", "<b>text<!-- comment --></b>"}) {
    EXPECT_NO_THROW((void)parsed(nested(kMaxXmlDepth, innermost))) << innermost;
    for (const int depth : {kMaxXmlDepth + 1, kMaxXmlDepth + 2, kMaxXmlDepth + 3, 600, 100000}) {
      const std::string error = error_of(nested(depth, innermost));
      EXPECT_NE(error.find("nested deeper than 98 elements"), std::string::npos) << innermost << ": " << error;
    }
  }
}

TEST(XmlFile, CrowdsOfAttributesAreRefused) {
  const auto tag = [](int count) {
    std::string text = "<!-- = = \n -->\n<a";
    for (int i = 0; i < count; ++i) text += " x" + std::to_string(i) + "='= > ='";
    return text + "/>";
  };
  EXPECT_EQ(error_of(tag(1001)), "a.xml:3: an element has more than 1000 attributes");
  EXPECT_EQ(parsed(tag(1000)).root().name(), "a");
}

TEST(XmlFile, LargeAndMissingFilesAreRefusedAtOnce) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path();
  const std::filesystem::path large = folder / ("tangere_large_" + std::to_string(::getpid()) + ".xml");
  std::ofstream(large).put('<');
  std::filesystem::resize_file(large, std::uintmax_t{100} << 20);
  EXPECT_EQ(message_of([&] { (void)XmlDocument::load(large); }),
            large.string() + ": must have at most 64 MB, has 100 MB");
  std::filesystem::remove(large);
  EXPECT_EQ(message_of([&] { (void)XmlDocument::load(large); }), large.string() + ": there is no such file");
  EXPECT_EQ(message_of([&] { (void)XmlDocument::load(folder); }), folder.string() + ": is not a file");
}

TEST(XmlFile, WhatNobodyAskedForIsReported) {
  const XmlDocument document = parsed(
      "<a x='1'>\n<b name='arm' y='2'\n z='3'/>\n<b name='leg'/>\n<c k='1'><d/></c>\n<e><f g='1'/></e>\n stray\n</a>");
  const XmlElement root = document.root();
  for (const XmlElement& b : root.children("b")) b.use({"name", "y"});
  root.child("e").use_all();
  std::vector<std::string> texts;
  for (const Notice& notice : document.unused()) texts.push_back(to_string(notice));
  EXPECT_EQ(texts, (std::vector<std::string>{"a.xml:1: a.x: this attribute is not used, got '1'",
                                             "a.xml:7: a: this text between the elements is not used, got 'stray'",
                                             "a.xml:3: a/b[arm].z: this attribute is not used, got '3'",
                                             "a.xml:5: a/c: this element is not used"}));
  EXPECT_EQ(message_of([&] { (void)root.child("b"); }), "a.xml:4: a/b[leg]: there is one already");
}

TEST(XmlFile, LongPathsKeepTheirEnds) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += "<e" + std::to_string(i) + ">";
  for (int i = 20; i-- > 0;) text += "</e" + std::to_string(i) + ">";
  XmlElement element = parsed(text).root();
  for (int i = 1; i < 20; ++i) element = element.child("e" + std::to_string(i));
  EXPECT_EQ(element.path(), "e0/.../e13/e14/e15/e16/e17/e18/e19");
}

}  // namespace
}  // namespace tangere::internal
