#include "view/terminal_settings.h"

#include <cstdlib>
#include <string_view>

namespace tutti {

bool is_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string_view text(value);
    return text.find("UTF-8") != std::string_view::npos || text.find("utf8") != std::string_view::npos;
  }
  return true;  // nothing is set: most terminals are
}

bool wants_colour() {
  const char* none = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return !(none && *none) && !(terminal && std::string_view(terminal) == "dumb");
}

}  // namespace tutti
