#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/numbers.h"

namespace tutti {

/// A syntax error names its position, as compilers write it: "config.toml:3:7: ...".
inline Result<toml::table> parse_toml(std::string_view text, const std::string& file_name,
                                      Fault fault = Fault::corrupt) {
  try {
    return toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    const auto& where = error.source().begin;
    return fail(fault, file_name + ":" + std::to_string(where.line) + ":" + std::to_string(where.column) + ": " +
                           std::string(error.description()));
  }
}

/// The shortest text of a float as TOML writes it: "0.5", "3.0", "1e-08".
inline std::string toml_number(double value) {
  const auto digits = number_text(value);
  return digits.find_first_of(".e") == std::string::npos ? digits + ".0" : digits;
}

}  // namespace tutti
