#include "tangere/io/robot/internal/mjcf_text.hpp"

#include "tangere/io/text/markup.hpp"
#include "tangere/io/text/text.hpp"

namespace tangere::internal {

void XmlText::end_tag() {
  if (in_tag_) text_ += ">\n";
  in_tag_ = false;
}

XmlText& XmlText::open(std::string_view name) {
  end_tag();
  text_ += std::string(2 * open_.size(), ' ') + "<" + std::string(name);
  open_.emplace_back(name);
  in_tag_ = true;
  return *this;
}

XmlText& XmlText::text(std::string_view attribute, std::string_view value) {
  text_ += " " + std::string(attribute) + "=\"" + escaped_for_file(attribute, value) + "\"";
  return *this;
}

XmlText& XmlText::number(std::string_view attribute, double value) { return text(attribute, shortest(value)); }

XmlText& XmlText::numbers(std::string_view attribute, const Eigen::Ref<const Eigen::VectorXd>& values) {
  std::string all;
  for (Eigen::Index i = 0; i < values.size(); ++i) all += (i > 0 ? " " : "") + shortest(values[i]);
  return text(attribute, all);
}

XmlText& XmlText::pose(const Pose& X) {
  if (!X.p.isZero(0.0)) numbers("pos", X.p);
  if (X.R.isIdentity(0.0)) return *this;
  const Vector4 xyzw = X.quaternion();
  return numbers("quat", Eigen::Vector4d(xyzw[3], xyzw[0], xyzw[1], xyzw[2]));
}

void XmlText::close() {
  const std::string name = open_.back();
  open_.pop_back();
  if (in_tag_)
    text_ += "/>\n";
  else
    text_ += std::string(2 * open_.size(), ' ') + "</" + name + ">\n";
  in_tag_ = false;
}

void XmlText::comment(std::string_view text) {
  end_tag();
  text_ += std::string(2 * open_.size(), ' ') + "<!-- " + std::string(text) + " -->\n";
}

}  // namespace tangere::internal
