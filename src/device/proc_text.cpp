#include "device/proc_text.h"

#include <charconv>

#include "base/files.h"
#include "base/strings.h"

namespace tutti {

std::optional<std::string> read_system_file(const std::filesystem::path& path) {
  auto content = read_file(path);
  if (!content) return std::nullopt;
  return std::move(*content);
}

std::optional<std::string_view> value_of_key(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return trimmed(line.substr(colon + 1));
  }
  return std::nullopt;
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  text = trimmed(text);
  std::int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

std::optional<Bytes> kilobytes_of_key(std::string_view text, std::string_view key) {
  const auto value = value_of_key(text, key);
  const auto number = value ? leading_number(*value) : std::nullopt;
  if (!number) return std::nullopt;
  return Bytes{*number * 1024};
}

}  // namespace tutti
