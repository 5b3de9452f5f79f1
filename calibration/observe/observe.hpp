// `replisim observe`: what a set of files holds, said for people and for programs.
#pragma once

#include "calibration/observe/clock_offset.hpp"
#include "calibration/observe/findings.hpp"
#include "calibration/observe/groups.hpp"
#include "calibration/observe/identify.hpp"
#include "calibration/readers/reader.hpp"

#include <string>
#include <vector>

namespace replisim::readers {

struct GroupReport {
  SourceGroup group;
  std::string streaming; ///< the subscription's option, as walsenders were asked for; empty when no log tells
  std::string transport; ///< transport_of()
  std::vector<Finding> findings;
  std::optional<ClockOffset> clock_offset;
};

struct ObserveReport {
  ReadResult read;
  std::vector<GroupReport> groups;
  std::vector<Identification> parameters;
};

/// Derives figures, findings and the rest from what was read. Throws UsageError when nothing could be read at
/// all.
ObserveReport make_report(ReadResult read);

std::string observe_table(const ObserveReport& report);
/// One object with stable keys: sources, groups, figures, events, series, parameters, problems.
std::string observe_json(const ObserveReport& report);
/// `source,metric,labels,t,value,line`, one row a kept sample or figure; t in seconds on the source's clock.
std::string observe_csv(const ObserveReport& report);

} // namespace replisim::readers
