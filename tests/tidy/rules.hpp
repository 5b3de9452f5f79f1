// The house rules, one checker each: files in, offences out.
#pragma once

#include "tests/tidy/tree.hpp"

#include <functional>

namespace replisim::tidy {

// Code (code_rules.cpp).

/// Which room may include what: models <- sim <- calibration <- cli, SimGrid in sim/engine alone,
/// actors and engine for sim alone, quoted includes from the root, nothing from tests/.
Offences check_includes(const File& file);

/// Calls and types that make runs differ, hide errors or end the process behind our back.
Offences check_banned_code(const File& file);

/// Names of SimGrid outside sim/engine.
Offences check_simgrid_names(const File& file);

/// At most 500 lines a file (code, CMake, shell), at most 120 columns a line.
Offences check_size(const File& file);

/// Function bodies of at most 70 lines in the rooms.
Offences check_function_length(const File& file);

/// A C++ file starts with a comment that says what it is, or, for a .cpp, with its own header, which
/// says so. After its comment a header has `#pragma once`.
Offences check_head(const File& file);

/// Every .cpp is named in the CMakeLists.txt of its folder or one above, every .hpp is included by
/// some other file.
Offences check_orphans(const std::vector<File>& files);

/// No two headers of the rooms define types of one name in one namespace: linked together, one's functions
/// would stand for the other's, and nobody says so.
Offences check_type_names(const std::vector<File>& files);

// Documents and data (document_rules.cpp).

/// Leftover markers, references to places that exist on one machine only.
Offences check_banned_words(const File& file);

/// Exactly one top heading a document.
Offences check_headings(const File& file);

/// Relative links and anchors of a document lead somewhere. `exists` answers for a path relative
/// to the root, `read` gives the text of a document ("" when there is none).
Offences check_links(const File& file, const std::function<bool(const std::string&)>& exists,
                     const std::function<std::string(const std::string&)>& read);

/// Under scenarios/ everything outside hardware/ and bases/ is a scenario: NAME.yaml that says
/// `replisim: 1` or extends a file that does. Documents (.md) and schemas (.json) may stand beside.
Offences check_scenario_file(const File& file);

} // namespace replisim::tidy
