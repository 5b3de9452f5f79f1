#include "cli/report/assets.hpp"

// The assembler puts a file's bytes between two names.
#define REPLISIM_EMBED(name, file)                                                                           \
  __asm__(".section .rodata\n"                                                                               \
          ".global " #name "_begin\n" #name "_begin:\n"                                                      \
          ".incbin \"" REPLISIM_PAGES file "\"\n"                                                            \
          ".global " #name "_end\n" #name "_end:\n"                                                          \
          ".byte 0\n"                                                                                        \
          ".previous\n");                                                                                    \
  extern "C" const char name##_begin[];                                                                      \
  extern "C" const char name##_end[];

REPLISIM_EMBED(replisim_report_js, "report.js")
REPLISIM_EMBED(replisim_report_css, "report.css")
REPLISIM_EMBED(replisim_explore_js, "explore.js")
REPLISIM_EMBED(replisim_explore_css, "explore.css")

namespace replisim::cli {

namespace {
std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}
} // namespace

PageAssets report_assets() {
  return {between(replisim_report_js_begin, replisim_report_js_end),
          between(replisim_report_css_begin, replisim_report_css_end)};
}

PageAssets explore_assets() {
  return {between(replisim_explore_js_begin, replisim_explore_js_end),
          between(replisim_explore_css_begin, replisim_explore_css_end)};
}

} // namespace replisim::cli
