#pragma once

#include <array>
#include <chrono>
#include <ctime>
#include <string>

namespace tutti {

// Moments of the wall clock as text, in a form of std::strftime. Fractions of a second are cut off. Thread-safe.

/// "2026-01-21T18:05:03Z" (ISO 8601), as JSON and other services have it.
inline constexpr const char* kIsoTime = "%Y-%m-%dT%H:%M:%SZ";
/// "2026-01-21 18:05:03", as people read it.
inline constexpr const char* kPlainTime = "%Y-%m-%d %H:%M:%S";

inline std::string clock_text(const std::tm& parts, const char* form) {
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), form, &parts)};
}

/// The time in UTC.
inline std::string utc_text(std::time_t at, const char* form = kIsoTime) {
  std::tm parts{};
  ::gmtime_r(&at, &parts);
  return clock_text(parts, form);
}
inline std::string utc_text(std::chrono::system_clock::time_point at, const char* form = kIsoTime) {
  return utc_text(std::chrono::system_clock::to_time_t(at), form);
}

/// The time in the zone of this process ($TZ, or the machine's).
inline std::string local_text(std::chrono::system_clock::time_point at, const char* form = kPlainTime) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(at);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  return clock_text(parts, form);
}

}  // namespace tutti
