#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// What is no TOML is an error with its place, as compilers write it: "config.toml:3:7: ...".
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

}  // namespace tutti
