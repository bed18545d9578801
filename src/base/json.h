#pragma once

#include <nlohmann/json.hpp>
#include <string>

// nlohmann's JSON, compiled once in json.cpp: every file that reads or writes JSON would compile the whole reader and
// writer again, for three to four seconds each.
extern template class nlohmann::basic_json<>;
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace nlohmann::detail {

using StringInput = iterator_input_adapter<std::string::const_iterator>;
using PointerInput = iterator_input_adapter<const char*>;

extern template class serializer<json>;
extern template class serializer<ordered_json>;
extern template class lexer<json, StringInput>;
extern template class lexer<json, PointerInput>;
extern template class lexer<ordered_json, StringInput>;
extern template class lexer<ordered_json, PointerInput>;
extern template class parser<json, StringInput>;
extern template class parser<json, PointerInput>;
extern template class parser<ordered_json, StringInput>;
extern template class parser<ordered_json, PointerInput>;
extern template class json_sax_dom_parser<json>;
extern template class json_sax_dom_parser<ordered_json>;
extern template class json_sax_dom_callback_parser<json>;
extern template class json_sax_dom_callback_parser<ordered_json>;

}  // namespace nlohmann::detail

namespace tutti {

/// `json` on one line, without the line's end. A name or a request may hold bytes that are no UTF-8, at which dump()
/// alone throws: they become U+FFFD.
template <class Json>
std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tutti
