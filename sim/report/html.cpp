#include "sim/report/html.hpp"

#include "models/base/errors.hpp"
#include "sim/run/result_json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <sstream>

namespace replisim {

using nlohmann::json;

namespace {

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text)
    switch (c) {
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '&':
      out += "&amp;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out.append(1, c);
    }
  return out;
}

/// JSON inside a script element: nothing in it may end the element, nor begin a comment.
std::string json_in_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text)
    if (c == '<')
      out += "\\u003c";
    else
      out.append(1, c);
  return out;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> out;
  std::string cell;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted and c == '"' and i + 1 < line.size() and line[i + 1] == '"')
      cell.append(1, line[++i]);
    else if (c == '"')
      quoted = not quoted;
    else if (c == ',' and not quoted)
      out.push_back(std::exchange(cell, {}));
    else
      cell.append(1, c);
  }
  out.push_back(cell);
  return out;
}

} // namespace

std::string html_page(const PageAssets& assets, const std::string& title, std::string_view data,
                      bool connects) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
                    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
                    "'none'";
  out += connects ? "; connect-src 'self'\">\n" : "\">\n";
  out += "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light "
         "dark\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n";
  out.append("<title>").append(html_text(title)).append("</title>\n");
  out += "<!-- With Observable Plot and D3 (ISC) and uPlot (MIT): cli/report/NOTICE.md of replisim -->\n";
  out.append("<style>").append(assets.style).append("</style>\n</head>\n<body>\n");
  out += "<noscript>This page needs JavaScript to draw its charts.</noscript>\n";
  out.append("<script type=\"application/json\" id=\"data\">")
      .append(json_in_html(data))
      .append("</script>\n");
  out.append("<script>").append(assets.script).append("</script>\n</body>\n</html>\n");
  return out;
}

json timeline_json_rows(const Timeline& timeline) {
  json rows = json::array();
  for (const auto& row : timeline.rows) {
    json values = json::array();
    for (const double value : row)
      values.push_back(number_json(value));
    rows.push_back(std::move(values));
  }
  return {{"columns", timeline.columns}, {"rows", std::move(rows)}};
}

Timeline read_timeline(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  Timeline out;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(
        fmt::format("{}: this is no timeline.csv of `replisim run --out`: {}", file.string(), why));
  };
  if (not std::getline(in, line))
    refuse("it is empty");
  out.columns = cells_of(line);
  if (out.columns.front() != "t_s")
    refuse(fmt::format("its first column is '{}' and not 't_s'", out.columns.front()));
  for (int number = 2; std::getline(in, line); ++number) {
    auto& row = out.rows.emplace_back();
    for (const auto& cell : cells_of(line)) {
      double value = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc{} or end != cell.data() + cell.size())
        refuse(fmt::format("line {}: '{}' is no number", number, cell));
      row.push_back(value);
    }
    if (row.size() != out.columns.size())
      refuse(fmt::format("line {} has {} values for {} columns", number, row.size(), out.columns.size()));
  }
  return out;
}

} // namespace replisim
