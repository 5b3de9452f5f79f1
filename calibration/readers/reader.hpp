// A reader turns one kind of file into observations. To add one: derive from Reader (in the namespace
// replisim::readers, where names such as Source and Event are these), and name it in
// registry.cpp. Which reader gets a file is decided by the file's content.
#pragma once

#include "calibration/readers/input.hpp"
#include "calibration/readers/observation.hpp"
#include "calibration/readers/problem.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace replisim::readers {

/// What the user says about files, for readers that cannot find it out.
struct ReadOptions {
  std::string log_line_prefix;      ///< of stderr logs; empty: inferred from each file
  std::string time_zone;            ///< for times without a known zone: "UTC", "+03", "-05:30"; empty: UTC
  std::filesystem::path column_map; ///< for plain tables: which column is which metric; empty: by name
};

/// The beginning of a file, for telling what it is.
struct FileHead {
  std::string_view file; ///< path; its name is a hint at most
  std::string_view text; ///< up to LineInput::head_bytes bytes, raw
  bool is_all = false;   ///< the file has no more than that

  /// The first lines without their ends (LF or CR LF), at most `count`; a last one that the head cuts is left
  /// out.
  std::vector<std::string_view> lines(std::size_t count) const;
};

/// How sure a reader is that a file is its own.
enum class Match {
  No,
  Perhaps, ///< has the shape, nothing more: a table of numbers
  Likely,  ///< has what such files usually have
  Certain, ///< has what no other kind of file has
};

/// Where a reader puts what it finds.
struct ReadContext {
  Observation& observation;
  std::size_t source; ///< index of this file in observation.sources
  Problems& problems; ///< at a line: input.report() is shorter
  const ReadOptions& options;

  Source& info() const { return observation.sources[source]; }
  Place place(std::uint64_t first_line, std::uint64_t last_line) const {
    return {.source = source, .first_line = first_line, .last_line = last_line};
  }
};

class Reader {
public:
  virtual ~Reader() = default;
  virtual std::string_view name() const = 0;  ///< stable, for programs: "postgres-log"
  virtual std::string_view reads() const = 0; ///< a phrase for people: "PostgreSQL server logs (stderr, ...)"
  /// Judges a file by its beginning.
  virtual Match recognises(const FileHead& head) const = 0;
  /// Reads all lines; never throws for what stands in the file. Sets format, node and time_base of
  /// context.info() where it can, and its times with see(); lines and bytes are filled in by the caller.
  virtual void read(LineInput& input, ReadContext& context) const = 0;
};

/// All readers there are, in the order in which they are asked; of equally sure ones the first wins.
const std::vector<std::unique_ptr<Reader>>& all_readers();

/// The reader for a file, or null.
const Reader* find_reader(const FileHead& head, const std::vector<std::unique_ptr<Reader>>& readers);

/// Called with bytes done and bytes in all (packed ones).
using ReadProgress = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

/// What a set of files held.
struct ReadResult {
  Observation observation;
  Problems problems;
};

/// Reads files, and the files of folders (all levels, by name, hidden ones left out), each with the reader
/// its content asks for. Files that no reader knows are problems of kind "unknown_kind"; so is everything
/// else that could not be read. Throws UsageError when a path does not exist, a folder holds no file, or an
/// option is malformed.
ReadResult read_paths(const std::vector<std::filesystem::path>& paths, const ReadOptions& options,
                      const ReadProgress& progress = {});

/// Reads one open input with the reader it asks for; part of read_paths(), for texts in memory.
void read_input(LineInput& input, const ReadOptions& options, Observation& observation, Problems& problems);

} // namespace replisim::readers
