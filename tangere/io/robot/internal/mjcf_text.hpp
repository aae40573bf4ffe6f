#pragma once

/// Writing XML element by element. Private to io.

#include <string>
#include <string_view>
#include <vector>

#include "tangere/math/se3.hpp"

namespace tangere::internal {

class XmlText {
 public:
  /// Starts an element in the one that is open.
  XmlText& open(std::string_view name);
  /// Attributes of the element just opened; numbers come back bit by bit.
  XmlText& text(std::string_view attribute, std::string_view value);
  XmlText& number(std::string_view attribute, double value);
  XmlText& numbers(std::string_view attribute, const Eigen::Ref<const Eigen::VectorXd>& values);
  /// `pos` and `quat` (w x y z), where they are not those of the identity.
  XmlText& pose(const Pose& X);
  void close();
  /// A line of comment.
  void comment(std::string_view text);

  /// How many elements are open.
  [[nodiscard]] int depth() const { return static_cast<int>(open_.size()); }
  [[nodiscard]] const std::string& str() const { return text_; }

 private:
  void end_tag();

  std::string text_;
  std::vector<std::string> open_;
  bool in_tag_ = false;
};

}  // namespace tangere::internal
