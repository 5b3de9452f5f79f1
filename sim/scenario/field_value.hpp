// Text to value, field type by field type.
#pragma once

#include "models/table.hpp"
#include "models/version.hpp"
#include "sim/scenario/descriptors.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace replisim {

/// A scalar's meaning: number in base units (Integer, Number, quantities, Flag as 0/1), text for the others
/// (a Choice in its canonical spelling).
struct FieldValue {
  double number = 0;
  std::string text;
};

/// Reads `text` as `field` wants it, its range included. Without a value `problem` is a sentence: what was
/// found, what is allowed. Only for types that are scalars.
std::optional<FieldValue> read_scalar(const FieldDescriptor& field, std::string_view text,
                                      std::string& problem);

/// A short phrase with an example, for "a list stands where ... is wanted".
std::string wanted(const FieldDescriptor& field);

bool is_scalar_type(FieldType type);

/// A number of this type as somebody would write it: "64 kB", "20%", "0.5".
std::string show_number(FieldType type, double number);

/// "allowed: 1 to 64".
std::string show_range(const FieldDescriptor& field);

struct ParsedColumnType {
  ColumnType type = ColumnType::Int4;
  int width_bytes = 0;
};

/// "int4", "bigint", "text(32)".
std::optional<ParsedColumnType> parse_column_type(std::string_view text, std::string& problem);

bool is_integer_type(ColumnType type);

/// "typical", "sequence" or an integer.
std::optional<ColumnValue> parse_column_value(std::string_view text, std::string& problem);

} // namespace replisim
