#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tutti {

/// With every %XX as its byte; a "%" that no two hexadecimal digits follow stays.
std::string percent_decoded(std::string_view text);

/// The parameters of a query, "limit=5&q=a+b", names and values decoded; of a name that comes again, the last.
std::map<std::string, std::string> query_parameters(std::string_view query);

}  // namespace tutti
