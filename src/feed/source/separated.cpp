#include "feed/source/separated.h"

namespace tutti {

std::vector<std::string> separated_fields(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool is_inside = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"' && is_inside && at + 1 < line.size() && line[at + 1] == '"') {
      fields.back() += '"';
      ++at;
    } else if (c == '"' && (is_inside || fields.back().empty())) {
      is_inside = !is_inside;
    } else if (c == separator && !is_inside) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace tutti
