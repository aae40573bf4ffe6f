#include "tangere/io/text/markup.hpp"

#include <gtest/gtest.h>

#include "tangere/io/robot/mjcf_writer.hpp"
#include "tangere/io/robot/urdf_writer.hpp"
#include "tangere/math/error.hpp"

namespace tangere::test {
namespace {

TEST(Markup, EscapesWhatXmlReads) {
  EXPECT_EQ(internal::escaped("a<b> & \"c\"\n"), "a&lt;b&gt; &amp; &quot;c&quot;&#10;");
  EXPECT_EQ(internal::escaped_for_file("name", "gr\xC3\xBC\xC3\x9F\tdich"), "gr\xC3\xBC\xC3\x9F&#9;dich");
}

/// A file that no XML reader takes is not written.
TEST(Markup, RefusesWhatXmlCannotHold) {
  for (const std::string text : {"bell\x07", "\xFF\xFE", "cut \xC3", "over \xC0\xAF"}) {
    EXPECT_THROW((void)internal::escaped_for_file("name", text), InputError) << text;
    ModelBuilder builder("robot");
    (void)builder.add_body({.name = "arm " + text, .inertia = {1.0, Vector3::Zero(), Matrix3::Identity()}},
                           {.name = "joint", .type = JointType::revolute});
    const Robot robot{builder.build(), {}, {}, {}};
    EXPECT_THROW((void)to_urdf(robot), InputError) << text;
    EXPECT_THROW((void)to_mjcf(robot), InputError) << text;
  }
}

}  // namespace
}  // namespace tangere::test
