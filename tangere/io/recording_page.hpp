#pragma once

/// The viewer's page with a recording inside: one file that plays in any browser, without a network.

#include <string>
#include <string_view>

namespace tangere {

/// The element of the page that holds its recording.
inline constexpr std::string_view kPagePlaceholder = R"(<script type="application/json" id="recording">null</script>)";

/// The page (built from apps/viewer) with a recording's text in its place. The text may be that of a recording that was
/// cut off: the page reads it as far as it goes. Throws InputError if the page is not the viewer's.
[[nodiscard]] std::string recording_page(std::string_view page, std::string_view recording);

}  // namespace tangere
