#include "serve/http/http.h"

#include <algorithm>
#include <charconv>

namespace tutti {

std::string_view HttpHead::header(std::string_view name) const {
  const auto found =
      std::ranges::find(headers, name, [](const auto& header) { return std::string_view(header.first); });
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() && std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::map<std::string, std::string> query_parameters(std::string_view query) {
  std::map<std::string, std::string> parameters;
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    std::string pair(query.substr(0, end));
    query.remove_prefix(std::min(end + 1, query.size()));
    std::ranges::replace(pair, '+', ' ');
    const auto equals = std::min(pair.find('='), pair.size());
    const std::string value = equals < pair.size() ? pair.substr(equals + 1) : "";
    if (equals > 0) parameters[percent_decoded(pair.substr(0, equals))] = percent_decoded(value);
  }
  return parameters;
}

}  // namespace tutti
