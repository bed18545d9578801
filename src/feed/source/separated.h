#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The fields of one line of CSV (RFC 4180: quotes around a field, doubled inside) or of another separator.
std::vector<std::string> separated_fields(std::string_view line, char separator);

}  // namespace tutti
