#include "apps/cli/gallery.hpp"

#include <string_view>

#include "tangere/io/text/markup.hpp"
#include "tangere/version.hpp"

namespace tangere::cli {
namespace {

using internal::escaped;

constexpr std::string_view kStyle = R"(<style>
  :root { color-scheme: light dark; --ink: #1f2937; --soft: #64748b; --line: #e2e8f0; --card: #fff; --page: #f4f6f9; --accent: #1d6fe0; }
  @media (prefers-color-scheme: dark) {
    :root { --ink: #e8ecf2; --soft: #97a3b4; --line: #2b3340; --card: #1a1f28; --page: #14181f; --accent: #4da3ff; }
  }
  * { box-sizing: border-box; }
  body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, "Segoe UI", Roboto, sans-serif; }
  main { max-width: 1100px; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
  h1 { margin: 0 0 .25rem; font-size: 1.9rem; letter-spacing: -.01em; }
  p { max-width: 46rem; }
  .soft { color: var(--soft); }
  .verdict { display: inline-block; padding: .1rem .7rem; border-radius: 8px; color: #fff; font-weight: 600; }
  .met { background: #15803d; }
  .missed { background: #b91c1c; }
  .cards { display: grid; align-items: start; grid-template-columns: repeat(auto-fill, minmax(min(100%, 320px), 1fr)); gap: 1.1rem; margin-top: 1.75rem; }
  .card { display: flex; flex-direction: column; background: var(--card); border: 1px solid var(--line); border-radius: 14px; overflow: hidden; color: inherit; text-decoration: none; }
  .card:hover, .card:focus-visible { border-color: var(--accent); outline: none; }
  pre { overflow-x: auto; font: 13px/1.5 ui-monospace, monospace; }
  main > svg { max-width: 100%; height: auto; background: #fff; border-radius: 12px; }
  .card:first-child:has(iframe) { grid-column: 1 / -1; }
  .card iframe { display: block; width: 100%; aspect-ratio: 4 / 3; border: 0; border-bottom: 1px solid var(--line); pointer-events: none; }
  .card:first-child iframe { aspect-ratio: 21 / 9; }
  .card svg { display: block; width: 100%; height: auto; background: #fff; border-bottom: 1px solid var(--line); }
  .card h2 { margin: 1rem 1.15rem .2rem; font-size: 1.08rem; color: var(--accent); }
  .card p { margin: 0 1.15rem 1.1rem; color: var(--soft); font-size: .93rem; }
</style>
)";

std::string head(const std::string& title) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      escaped(title) + "</title>\n";
  page += kStyle;
  return page + "</head>\n<body>\n<main>\n";
}

/// Browsers have a bounded number of 3-D pictures: only cards that are in sight have one.
constexpr std::string_view kScript = R"(<script>
  const sight = new IntersectionObserver((cards) => {
    for (const { target, isIntersecting } of cards) {
      const page = isIntersecting ? target.dataset.page : 'about:blank';
      if (target.getAttribute('src') !== page) target.src = page;
    }
  });
  for (const frame of document.querySelectorAll('iframe')) sight.observe(frame);
</script>
)";

std::string foot() {
  return std::string(kScript) + "<p class=\"soft\">tangere " + std::string(kVersion) +
         "</p>\n</main>\n</body>\n</html>\n";
}

/// A picture, or the page itself without its panels (`#embed`).
std::string preview(const GalleryEntry& entry, bool playing) {
  const std::string& shown = entry.is_recording ? entry.file : entry.shown;
  if (shown.empty()) return entry.picture;
  return "<iframe tabindex=\"-1\" title=\"" + escaped(entry.title) + "\" data-page=\"" + escaped(shown) + "#embed" +
         (playing ? "&amp;play" : "") + "\"></iframe>";
}

std::string card(const GalleryEntry& entry, bool playing) {
  return "<a class=\"card\" href=\"" + escaped(entry.file) + "\">" + preview(entry, playing) + "<h2>" +
         escaped(entry.title) + "</h2><p>" + escaped(entry.text) + "</p></a>\n";
}

}  // namespace

std::string gallery_page(const Gallery& gallery) {
  std::string page = head(gallery.title) + "<h1>" + escaped(gallery.title) + "</h1>\n<p class=\"soft\">" +
                     escaped(gallery.introduction) + "</p>\n<div class=\"cards\">\n";
  for (const GalleryEntry& entry : gallery.entries) page += card(entry, &entry == &gallery.entries.front());
  return page + "</div>\n" + foot();
}

std::string result_page(const ResultPage& result) {
  const bool met = result.verdict.starts_with("MET");
  std::string page = head(result.title) + "<h1>" + escaped(result.title) + "</h1>\n<p>" + escaped(result.claim) +
                     "</p>\n<p class=\"verdict " + (met ? "met" : "missed") + "\">" + escaped(result.verdict) +
                     "</p>\n" + result.svg + "<pre>" + escaped(result.text) + "</pre>\n<p class=\"soft\">" +
                     escaped(result.made_by) + "</p>\n<div class=\"cards\">\n";
  for (const GalleryEntry& film : result.films) page += card(film, false);
  return page + "</div>\n" + foot();
}

}  // namespace tangere::cli
