// PostgreSQL server logs: stderr with any log_line_prefix, csvlog, jsonlog.
#pragma once

#include "calibration/readers/reader.hpp"

#include <memory>

namespace replisim::readers {

std::unique_ptr<Reader> make_postgres_log_reader();

} // namespace replisim::readers
