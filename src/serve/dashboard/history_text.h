#pragma once

#include <string>
#include <vector>

#include "serve/dashboard/history_json.h"

namespace tutti {

/// Tables for a terminal of `width` columns: runs, what each device did in them, speeds now against the first, and the
/// latest events.
std::vector<std::string> history_tables(const History& history, std::size_t width);

/// The speed of every device, and of every run as a whole, over time.
std::string history_svg(const History& history);

}  // namespace tutti
