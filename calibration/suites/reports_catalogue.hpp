// The reports, a function each, and what their checks are computed with.
#pragma once

#include "calibration/suites/reports.hpp"

namespace replisim {

inline constexpr double mega_bytes = 1024.0 * 1024;
inline constexpr double giga_bytes = 1024 * mega_bytes;

/// Reads the runs of one report. What a run does not have is NaN, which no check accepts.
class ReportReader {
public:
  explicit ReportReader(const ReportResults& results) : results_(results) {}

  double metric(const std::string& run, const std::string& name) const;
  double slot(const std::string& run, const std::string& slot, const std::string& name) const;
  /// When the first outcome of this kind came.
  double outcome_s(const std::string& run, const std::string& kind) const;
  double outcomes(const std::string& run, const std::string& kind) const; ///< how many
  /// A timeline column in the last sample at or before `t_s`.
  double sample(const std::string& run, const std::string& column, double t_s) const;
  /// Largest value of f(sample) over the samples in [from_s, to_s].
  double largest(const std::string& run, const std::vector<std::string>& columns, double from_s, double to_s,
                 const std::function<double(const std::vector<double>&)>& f) const;
  /// Time of the first sample whose column is greater than `value`.
  double first_above_s(const std::string& run, const std::string& column, double value) const;

  /// A table of an initial synchronisation; nullptr when there is none.
  const TableSyncResult* table_sync(const std::string& run, const std::string& table) const;
  /// Whether the words about a subscription's initial synchronisation hold this: 1 or 0.
  double sync_says(const std::string& run, const std::string& subscription, const std::string& words) const;

private:
  const RunResult* find(const std::string& run) const;
  const ReportResults& results_;
};

/// "path=value" for each of the consumers numbered first to last.
std::vector<std::string> for_consumers(const std::string& prefix, int first, int last,
                                       const std::string& setting);

// Time-outs and throughput: reports_throughput.cpp.
Report report_u01();
Report report_u03();
Report report_u11();
Report report_u21();
Report report_u24();

// Apply workers: reports_apply.cpp.
Report report_u12();
Report report_u13();
Report report_u29();

// Decoded memory and spill files: reports_spill.cpp.
Report report_u05();
Report report_u06();
Report report_u22();
Report report_u23();

// Catalog changes: reports_catalog.cpp.
Report report_u07();
Report report_u08();
Report report_u09();

// Slots and the WAL they hold: reports_slots.cpp.
Report report_u14();
Report report_u15();
Report report_u18();
Report report_u20();
Report report_u27();
Report report_u31();

// Initial synchronisation: reports_sync.cpp.
Report report_u34();

// Locks: reports_locks.cpp.
Report report_u33();

} // namespace replisim
