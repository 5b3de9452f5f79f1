// The line source: packing, line ends, encodings, endless lines; and what it says about them.
#include "calibration/readers/input.hpp"
#include "calibration/readers/utf8.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

using namespace replisim::readers;

namespace {

std::string gzip(const std::string& text) {
  z_stream state{};
  REQUIRE(deflateInit2(&state, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&state, static_cast<uLong>(text.size())), '\0');
  std::string copy = text;
  state.next_in = reinterpret_cast<Bytef*>(copy.data());
  state.avail_in = static_cast<uInt>(copy.size());
  state.next_out = reinterpret_cast<Bytef*>(packed.data());
  state.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&state, Z_FINISH) == Z_STREAM_END);
  packed.resize(state.total_out);
  deflateEnd(&state);
  return packed;
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const std::size_t n = ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3);
  REQUIRE(ZSTD_isError(n) == 0);
  packed.resize(n);
  return packed;
}

struct Read {
  std::vector<std::string> lines;
  Problems problems;
  bool usable = false;
};

Read read(const std::string& bytes, std::size_t max_line_bytes = 1 << 20) {
  Read result;
  LineInput input = LineInput::over_text("f", bytes, result.problems);
  input.limit_lines(max_line_bytes);
  result.usable = input.usable();
  std::string_view line;
  while (input.next(line)) {
    result.lines.emplace_back(line);
    CHECK(input.line_number() == result.lines.size());
  }
  CHECK_FALSE(input.next(line)); // the end stays the end
  return result;
}

using Lines = std::vector<std::string>;

std::string only_problem(const Read& result) {
  REQUIRE(result.problems.groups().size() == 1);
  return result.problems.groups().front().to_string();
}

/// More than one block of the source and of the packed data.
std::string many_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += "line " + std::to_string(i * 7919) + " of the sample\n";
  return text;
}

} // namespace

TEST_CASE("lines come whole with and without a last line end") {
  CHECK(read("a\nbc\n\nd").lines == Lines{"a", "bc", "", "d"});
  CHECK(read("a\n").lines == Lines{"a"});
  CHECK(read("a\n").problems.empty());
  CHECK(read("\n\n").lines == Lines{"", ""});
}

TEST_CASE("lines across many blocks are the same however they are packed") {
  const std::string text = many_lines(60'000);
  const Read plain = read(text);
  REQUIRE(plain.lines.size() == 60'000);
  CHECK(plain.lines[59'999] == "line 475132081 of the sample");
  CHECK(read(gzip(text)).lines == plain.lines);
  CHECK(read(zstd(text)).lines == plain.lines);
  CHECK(read(gzip(text)).problems.empty());
  CHECK(read(zstd(text)).problems.empty());
}

TEST_CASE("several gzip members and zstd frames follow each other") {
  CHECK(read(gzip("a\nb") + gzip("c\nd\n")).lines == Lines{"a", "bc", "d"});
  CHECK(read(zstd("a\nb") + zstd("c\nd\n")).lines == Lines{"a", "bc", "d"});
  const Read padded = read(gzip("a\n") + std::string(512, '\0'));
  CHECK(padded.lines == Lines{"a"});
  CHECK(padded.problems.empty());
}

TEST_CASE("packed data that ends early gives the lines before the cut and says so") {
  const std::string text = many_lines(20'000);
  const std::string packed = gzip(text);
  const Read cut = read(packed.substr(0, packed.size() / 2));
  CHECK(cut.lines.size() > 5'000);
  CHECK(cut.lines.size() < 15'000);
  CHECK(cut.lines[4'999] == "line 39587081 of the sample");
  CHECK_THAT(only_problem(cut), Catch::StartsWith("f:" + std::to_string(cut.lines.size()) +
                                                  ": is cut short: the gzip data ends in the middle; the "));
  CHECK(read(packed.substr(0, packed.size() - 4)).problems.count_of("truncated") == 1);
  const std::string frame = zstd(text);
  CHECK_THAT(only_problem(read(frame.substr(0, frame.size() - 5))),
             Catch::Contains("is cut short: the zstd data ends in the middle"));
}

TEST_CASE("damaged packed data is a problem and no crash") {
  std::string packed = gzip(many_lines(20'000));
  packed.replace(packed.size() / 2, 40, std::string(40, '\x55'));
  CHECK_THAT(only_problem(read(packed)), Catch::Contains("has damaged gzip data"));
  CHECK_THAT(only_problem(read(gzip("a\n") + "behind")), Catch::Contains("bytes behind the gzip data"));
  CHECK(read(gzip("a\n") + "behind").lines == Lines{"a"});
}

TEST_CASE("carriage returns before line ends are dropped and counted once") {
  const Read result = read("a\r\nb\r\nc\n");
  CHECK(result.lines == Lines{"a", "b", "c"});
  CHECK(only_problem(result) ==
        "f: 2 of 3 lines end in CR LF (written or copied on Windows); read as if they ended in LF");
}

TEST_CASE("bytes that are no UTF-8 are replaced and counted") {
  const Read result = read("gr\xC3\xBC\xC3\x9F\ngr\xFC\xDF\ncaf\xE9\n");
  CHECK(result.lines == Lines{"grüß", "gr\xEF\xBF\xBD\xEF\xBF\xBD", "caf\xEF\xBF\xBD"});
  CHECK(only_problem(result) == "f:2: byte 3 (0xFC) is no UTF-8: the file mixes encodings; shown as "
                                "\xEF\xBF\xBD (2 times; also in line 3)");
}

TEST_CASE("what is valid UTF-8 follows RFC 3629") {
  CHECK(find_unclean_byte("plain") == std::string_view::npos);
  CHECK(find_unclean_byte("\xF0\x9F\x90\x98") == std::string_view::npos);
  CHECK(find_unclean_byte("a\xC0\xAF") == 1);        // overlong
  CHECK(find_unclean_byte("a\xED\xA0\x80") == 1);    // surrogate
  CHECK(find_unclean_byte("\xF4\x90\x80\x80") == 0); // above U+10FFFF
  CHECK(find_unclean_byte("ab\xE2\x82") == 2);       // cut
  CHECK(find_unclean_byte(std::string("a\0b", 3)) == 1);
  CHECK(make_clean_utf8(std::string("a\0b", 3)) == "ab");
}

TEST_CASE("an endless line is cut and the next one is read") {
  const std::string longest(3'000'000, 'x');
  const Read result = read("a\n" + longest + "\nb\n", 1000);
  REQUIRE(result.lines.size() == 3);
  CHECK(result.lines[1] == std::string(1000, 'x'));
  CHECK(result.lines[2] == "b");
  CHECK(only_problem(result) ==
        "f:2: the line has 3,000,000 bytes; its first 1,000 were read, the rest was left out");
  CHECK(read(std::string(1000, 'x') + "\n", 1000).problems.empty());
  CHECK(read(std::string(1001, 'x') + "\n", 1000).problems.count_of("line_too_long") == 1);
  CHECK(read(std::string(1001, 'x'), 1000).problems.count_of("line_too_long") == 1);
  // A cut in the middle of a character leaves it out and blames nobody.
  const Read umlauts = read("xü\n", 2);
  CHECK(umlauts.lines == Lines{"x"});
  CHECK(umlauts.problems.count_of("invalid_utf8") == 0);
}

TEST_CASE("files without text are refused with the reason") {
  CHECK(only_problem(read("")) == "f: is empty");
  CHECK(only_problem(read(gzip(""))) == "f: is empty once it is unpacked");
  CHECK_THAT(only_problem(read(std::string(5000, '\0'))),
             Catch::Contains("is binary: 5000 of its first 5000 bytes are control characters or NUL"));
  CHECK_THAT(only_problem(read("BZh91AY&SY")), Catch::Contains("is compressed with bzip2; unpack"));
  CHECK_THAT(only_problem(read("\xFF\xFE" + std::string("a\0b\0", 4))), Catch::Contains("is UTF-16 text"));
  CHECK_FALSE(read("").usable);
  CHECK(read("\xEF\xBB\xBFt_s\n").lines == Lines{"t_s"}); // a byte order mark is none of the text
}

TEST_CASE("NUL bytes that a crash left in a log are dropped and counted") {
  const Read result = read(many_lines(2000) + std::string(100, '\0') + "b\n");
  CHECK(result.lines.back() == "b");
  CHECK(only_problem(result) == "f:2001: NUL bytes in the line, the first at byte 1; they were dropped");
}

TEST_CASE("files that cannot be opened say why") {
  Problems problems;
  CHECK_FALSE(LineInput::open("/nonexistent/file.log", problems).usable());
  CHECK_FALSE(LineInput::open("/", problems).usable());
  REQUIRE(problems.groups().size() == 2);
  CHECK(problems.groups()[0].to_string() ==
        "/nonexistent/file.log: cannot be opened: No such file or directory");
  CHECK(problems.groups()[1].to_string() == "/: is a folder");
}

TEST_CASE("the head can be looked at before lines are taken") {
  Problems problems;
  LineInput input = LineInput::over_text("f", many_lines(10'000), problems);
  CHECK(input.head().size() == LineInput::head_bytes);
  CHECK_FALSE(input.head_is_all());
  CHECK(input.head().starts_with("line 0 of"));
  std::string_view line;
  REQUIRE(input.next(line));
  CHECK(line == "line 0 of the sample");
  LineInput small = LineInput::over_text("f", "a\nb\n", problems);
  CHECK(small.head() == "a\nb\n");
  CHECK(small.head_is_all());
}

TEST_CASE("problems are counted and the first are kept") {
  Problems problems(2);
  for (std::uint64_t line = 1; line <= 4; ++line)
    problems.add({.file = "f", .line = line, .kind = "k", .message = "wrong"});
  problems.add({.file = "g", .line = 0, .kind = "k", .message = "worse"}, 3);
  CHECK(problems.count() == 7);
  CHECK(problems.count_of("k") == 7);
  CHECK(problems.count_of("other") == 0);
  REQUIRE(problems.groups().size() == 2);
  CHECK(problems.groups()[0].to_string() == "f:1: wrong (4 times; also in line 2)");
  CHECK(problems.groups()[1].to_string() == "g: worse (3 times)");
}
