// References in Markdown, generated from the tables that the program itself goes by.
#pragma once

#include "sim/scenario/loader.hpp"

#include <string>

namespace replisim {

/// Every object and field of scenario, machine and profile files, every PostgreSQL setting.
std::string scenario_reference();

/// Every cost, its unit, meaning and plausible range, and its value in each shipped profile.
std::string profile_reference(const Library& library);

} // namespace replisim
