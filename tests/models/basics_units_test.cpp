// Quantities with units, printing for people, and the nearest known name.
#include "models/base/suggest.hpp"
#include "models/base/units.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace replisim;

namespace {

double value_of(std::string_view text, Dimension dimension, std::string_view default_unit = {}) {
  const ParsedQuantity parsed = parse_quantity(text, dimension, default_unit);
  INFO(text << ": " << parsed.problem);
  REQUIRE(parsed.ok);
  CHECK(parsed.problem.empty());
  return parsed.value;
}

std::string problem_of(std::string_view text, Dimension dimension, std::string_view default_unit = {}) {
  const ParsedQuantity parsed = parse_quantity(text, dimension, default_unit);
  INFO(text);
  REQUIRE_FALSE(parsed.ok);
  return parsed.problem;
}

} // namespace

TEST_CASE("sizes are powers of 1024") {
  CHECK(value_of("512B", Dimension::Size) == 512);
  CHECK(value_of("64kB", Dimension::Size) == 65536);
  CHECK(value_of("64 kB", Dimension::Size) == 65536);
  CHECK(value_of("  64\tkB ", Dimension::Size) == 65536);
  CHECK(value_of("1.5GB", Dimension::Size) == 1610612736);
  CHECK(value_of("800GB", Dimension::Size) == 858993459200);
  CHECK(value_of("1TB", Dimension::Size) == 1099511627776);
  CHECK(value_of("+1MB", Dimension::Size) == 1048576);
  CHECK(value_of(".5kB", Dimension::Size) == 512);
  CHECK(value_of("-1kB", Dimension::Size) == -1024);
}

TEST_CASE("durations are exact where the decimal is") {
  CHECK(value_of("200ms", Dimension::Duration) == 0.2);
  CHECK(value_of("0.1ms", Dimension::Duration) == 1e-4);
  CHECK(value_of("1e-3s", Dimension::Duration) == 1e-3);
  CHECK(value_of("40ns", Dimension::Duration) == 40e-9);
  CHECK(value_of("12us", Dimension::Duration) == 12e-6);
  CHECK(value_of("5min", Dimension::Duration) == 300);
  CHECK(value_of("2h", Dimension::Duration) == 7200);
  CHECK(value_of("1d", Dimension::ServerDuration) == 86400);
}

TEST_CASE("rates in bits are decimal, rates in bytes binary") {
  CHECK(value_of("10Gbps", Dimension::ByteRate) == 1.25e9);
  CHECK(value_of("100Mbps", Dimension::ByteRate) == 12.5e6);
  CHECK(value_of("8kbps", Dimension::ByteRate) == 1000);
  CHECK(value_of("250MB/s", Dimension::ByteRate) == 262144000);
  CHECK(value_of("20%", Dimension::Percent) == 0.2);
  CHECK(value_of("2.8GHz", Dimension::Frequency) == 2.8e9);
}

TEST_CASE("how often something happens is written per second, minute or hour") {
  CHECK(value_of("500/s", Dimension::EventRate) == 500);
  CHECK(value_of("30/min", Dimension::EventRate) == 0.5);
  CHECK(value_of("900 /h", Dimension::EventRate) == 0.25);
  CHECK(value_of("0.5/s", Dimension::EventRate) == 0.5);
  CHECK(problem_of("500", Dimension::EventRate) == "'500' has no unit; use /s, /min or /h");
  CHECK(problem_of("500/S", Dimension::EventRate) ==
        "unit '/S' is not a number per time; did you mean '/s'?");
  CHECK(problem_of("500/day", Dimension::EventRate) ==
        "unit '/day' is not a number per time; use /s, /min or /h");
  CHECK(problem_of("500MB/s", Dimension::EventRate) ==
        "unit 'MB/s' is not a number per time but a rate; use /s, /min or /h");
  CHECK(problem_of("500/s", Dimension::Frequency) ==
        "unit '/s' is not a frequency but a number per time; use Hz, kHz, MHz or GHz");
}

TEST_CASE("a bare number needs a default unit, except zero") {
  CHECK(value_of("64", Dimension::Size, "kB") == 65536);
  CHECK(value_of("128", Dimension::Size, "8kB") == 1048576);
  CHECK(value_of("128kB", Dimension::Size, "8kB") == 131072);
  CHECK(value_of("0", Dimension::Size) == 0);
  CHECK(value_of("-0.0", Dimension::Duration) == 0);
  CHECK(problem_of("64", Dimension::Size) == "'64' has no unit; use B, kB, MB, GB or TB");
}

TEST_CASE("what is not one number with a unit is refused") {
  CHECK(problem_of("", Dimension::Size) == "'' is not a size; write a number and a unit, such as 64kB");
  CHECK(problem_of("abc", Dimension::Duration) ==
        "'abc' is not a duration; write a number and a unit, such as 0.1ms");
  CHECK(problem_of("1 2kB", Dimension::Size) == "'1 2kB' is not one number with a unit, such as 64kB");
  CHECK(problem_of("64kB 32kB", Dimension::Size) ==
        "'64kB 32kB' is not one number with a unit, such as 64kB");
  CHECK(problem_of("5,000kB", Dimension::Size) == "'5,000kB' is not one number with a unit, such as 64kB");
  CHECK(problem_of("0x10kB", Dimension::Size) == "'0x10kB' is not one number with a unit, such as 64kB");
  CHECK(problem_of("1e400", Dimension::Size, "kB") == "'1e400' is too large or too small a number");
  CHECK(problem_of("1e308TB", Dimension::Size) == "'1e308TB' is too large or too small a number");
  for (const char* text :
       {"nan", "NaN", "-nan", "inf", "-inf", "infinity", "nanms", "+-5ms", "--5ms", "-", "."})
    CHECK(problem_of(text, Dimension::Duration, "ms").find("is not a duration") != std::string::npos);
}

TEST_CASE("a wrong unit is answered with the one meant") {
  CHECK(problem_of("64mb", Dimension::Size) == "unit 'mb' is not a size; did you mean 'MB'?");
  CHECK(problem_of("64KiB", Dimension::Size) == "unit 'KiB' is not a size; did you mean 'kB'?");
  CHECK(problem_of("64M", Dimension::Size) == "unit 'M' is not a size; did you mean 'MB'?");
  CHECK(problem_of("64kB!", Dimension::Size) == "unit 'kB!' is not a size; did you mean 'kB'?");
  CHECK(problem_of("250MB", Dimension::ByteRate) == "unit 'MB' is not a rate; did you mean 'MB/s'?");
  CHECK(problem_of("10gbps", Dimension::ByteRate) == "unit 'gbps' is not a rate; did you mean 'Gbps'?");
  CHECK(problem_of("64ms", Dimension::Size) ==
        "unit 'ms' is not a size but a duration; use B, kB, MB, GB or TB");
  CHECK(problem_of("64MB", Dimension::Duration) ==
        "unit 'MB' is not a duration but a size; use ns, us, ms, s, min, h or d");
  CHECK(problem_of("5parsec", Dimension::Duration) ==
        "unit 'parsec' is not a duration; use ns, us, ms, s, min, h or d");
  CHECK(problem_of("5ns", Dimension::ServerDuration) ==
        "unit 'ns' is not a PostgreSQL duration but a duration; use us, ms, s, min, h or d");
}

TEST_CASE("plain numbers are read whole") {
  CHECK(parse_number(" 42 ") == 42);
  CHECK(parse_number("-1.5e3") == -1500);
  CHECK_FALSE(parse_number("42 kB"));
  CHECK_FALSE(parse_number("1 2"));
  CHECK_FALSE(parse_number(""));
  CHECK_FALSE(parse_number("nan"));
  CHECK_FALSE(parse_number("1e400"));
}

TEST_CASE("sizes, durations and counts are printed for people") {
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(512) == "512 B");
  CHECK(format_bytes(1023.6) == "1.0 kB");
  CHECK(format_bytes(65536) == "64 kB");
  CHECK(format_bytes(50888967) == "48.5 MB");
  CHECK(format_bytes(1048575) == "1.0 MB");
  CHECK(format_bytes(1.2 * 1024 * 1024 * 1024) == "1.2 GB");
  CHECK(format_bytes(5e15) == "4547.5 TB");
  CHECK(format_bytes(-65536) == "-64 kB");

  CHECK(format_duration(0) == "0 s");
  CHECK(format_duration(40e-9) == "40.0 ns");
  CHECK(format_duration(1.26e-6) == "1.3 us");
  CHECK(format_duration(0.0121) == "12.1 ms");
  CHECK(format_duration(0.99996) == "1.0 s");
  CHECK(format_duration(37.31) == "37.3 s");
  CHECK(format_duration(119.9) == "119.9 s");
  CHECK(format_duration(119.97) == "2 min 00 s");
  CHECK(format_duration(3599.4) == "59 min 59 s");
  CHECK(format_duration(3599.6) == "1 h 00 min");
  CHECK(format_duration(7500) == "2 h 05 min");
  CHECK(format_duration(-1.5) == "-1.5 s");

  CHECK(format_count(0) == "0");
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1,000");
  CHECK(format_count(5000000) == "5,000,000");
  CHECK(format_count(-123456) == "-123,456");
  CHECK(format_count(-123) == "-123");
  CHECK(format_count(std::numeric_limits<std::int64_t>::min()) == "-9,223,372,036,854,775,808");
}

TEST_CASE("the nearest name is near, or none") {
  const std::vector<std::string> names = {"streaming", "binary", "publication", "server"};
  CHECK(nearest_name("straeming", names) == "streaming"); // one swap
  CHECK(nearest_name("STREAMING", names) == "streaming");
  CHECK(nearest_name("strmng", names) == "streaming"); // 3 of 9 letters
  CHECK(nearest_name("strmg", names).empty());         // 4 of 9
  CHECK(nearest_name("sever", names) == "server");
  CHECK(nearest_name("", names).empty());
  CHECK(nearest_name("x", {"a", "b"}).empty());
  CHECK(nearest_name("ab", {"ac", "ad"}) == "ac"); // a tie goes to the earlier one
  CHECK(nearest_name("abc", {}).empty());

  CHECK(suggestion("sever", names) == " (did you mean 'server'?)");
  CHECK(suggestion("zzzzzz", names) == " (allowed: streaming, binary, publication, server)");
  CHECK(suggestion("zzzzzz", {}).empty());
  CHECK(suggestion("zzzzzz", std::vector<std::string>(9, "a")).empty());
}

TEST_CASE("names as a phrase") {
  CHECK(either_of({}).empty());
  CHECK(either_of({"a"}) == "a");
  CHECK(either_of({"a", "b"}) == "a or b");
  CHECK(either_of({"a", "b", "c"}) == "a, b or c");
  CHECK(unit_names(Dimension::Duration) == "ns, us, ms, s, min, h or d");
  CHECK(unit_names(Dimension::ServerDuration) == "us, ms, s, min, h or d");
  CHECK(unit_names(Dimension::ByteRate) == "B/s, kB/s, MB/s, GB/s, bps, kbps, Mbps or Gbps");
  CHECK(unit_names(Dimension::Percent) == "%");
}
