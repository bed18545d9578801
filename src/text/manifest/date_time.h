#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace tutti {

/// A moment as people and databases write it (ISO 8601): "2026-11-23T18:30:00Z", "2026-11-23 18:30+01:00". Without a
/// zone it is UTC, as the note's manifest has its dates; a date alone is the end of that day. None: it is no such
/// thing.
std::optional<std::chrono::sys_time<std::chrono::milliseconds>> parse_date_time(std::string_view text);

}  // namespace tutti
