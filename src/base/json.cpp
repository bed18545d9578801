#include "base/json.h"

template class nlohmann::basic_json<>;
template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace nlohmann::detail {

template class serializer<json>;
template class serializer<ordered_json>;
template class lexer<json, StringInput>;
template class lexer<json, PointerInput>;
template class lexer<ordered_json, StringInput>;
template class lexer<ordered_json, PointerInput>;
template class parser<json, StringInput>;
template class parser<json, PointerInput>;
template class parser<ordered_json, StringInput>;
template class parser<ordered_json, PointerInput>;
template class json_sax_dom_parser<json>;
template class json_sax_dom_parser<ordered_json>;
template class json_sax_dom_callback_parser<json>;
template class json_sax_dom_callback_parser<ordered_json>;

}  // namespace nlohmann::detail
