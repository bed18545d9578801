#include "cloud/aws_request.h"

#include <algorithm>

#include "base/strings.h"

namespace tutti {

std::string percent_encoded(std::string_view text, std::string_view keep) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = is_ascii_alphabetic(c) || is_ascii_digit(byte) ||
                       std::string_view("-._~").find(c) != std::string_view::npos ||
                       keep.find(c) != std::string_view::npos;
    if (plain)
      encoded += c;
    else
      encoded += {'%', kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return encoded;
}

std::string target_of(const AwsRequest& request) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& [name, value] : request.query) pairs.emplace_back(percent_encoded(name), percent_encoded(value));
  std::ranges::sort(pairs);
  const std::string query = joined(pairs, "&", [](const auto& pair) { return pair.first + "=" + pair.second; });
  return percent_encoded(request.path, "/") + (query.empty() ? "" : "?" + query);
}

std::string host_of_origin(std::string_view origin) {
  const auto scheme = origin.find("://");
  return std::string(scheme == std::string_view::npos ? origin : origin.substr(scheme + 3));
}

}  // namespace tutti
