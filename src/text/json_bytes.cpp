#include "text/json_bytes.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "text/utf8.h"

namespace tutti {
namespace {

// nlohmann's reader and writer refuse both. In between, a byte is this noncharacter and two hexadecimal digits, and the
// noncharacter itself is followed by "--".
constexpr std::string_view kMark = "\xEF\xB7\x90";  // U+FDD0
constexpr std::string_view kItself = "--";

void append_marked(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out.append(kMark);
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 15U];
}

std::optional<unsigned> hex_in(std::string_view digits) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// The UTF-16 unit that an escape at `at` means.
std::optional<unsigned> unit_at(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  return hex_in(text.substr(at + 2, 4));
}

/// The valid code point or the bytes at `at`; returns their number.
std::size_t append_point(std::string& out, std::string_view text, std::size_t at) {
  const CodePoint point = code_point_at(text, at);
  const std::string_view bytes = text.substr(at, point.size);
  if (point.valid) {
    out.append(bytes);
    if (bytes == kMark) out.append(kItself);
  } else {
    for (const char byte : bytes) append_marked(out, static_cast<unsigned char>(byte));
  }
  return point.size;
}

std::string with_marks(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) at += append_point(out, text, at);
  return out;
}

/// The same of a document: its escapes are read as well. A pair of surrogates is one character and stays.
std::string document_with_marks(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      at += append_point(out, text, at);
      continue;
    }
    const auto unit = unit_at(text, at);
    const bool is_byte = unit && *unit >= 0xDC80 && *unit <= 0xDCFF;
    const bool begins_pair = unit && *unit >= 0xD800 && *unit <= 0xDBFF && unit_at(text, at + 6);
    const std::size_t size = std::min<std::size_t>(begins_pair ? 12 : unit ? 6 : 2, text.size() - at);
    if (is_byte)
      append_marked(out, static_cast<unsigned char>(*unit & 0xFFU));
    else
      out.append(text.substr(at, size));
    at += size;
  }
  return out;
}

/// Calls `use` with the text between marks and with each byte behind one.
template <class UseText, class UseByte>
void for_marks(std::string_view text, const UseText& use_text, const UseByte& use_byte) {
  for (auto at = text.find(kMark); at != text.npos; at = text.find(kMark)) {
    use_text(text.substr(0, at));
    const std::string_view behind = text.substr(at + kMark.size(), 2);
    if (behind == kItself)
      use_text(kMark);
    else
      use_byte(behind);
    text.remove_prefix(at + kMark.size() + behind.size());
  }
  use_text(text);
}

std::string with_bytes(std::string_view marked) {
  std::string out;
  for_marks(
      marked, [&](std::string_view text) { out.append(text); },
      [&](std::string_view digits) { out += static_cast<char>(hex_in(digits).value_or('?')); });
  return out;
}

std::string with_escapes(std::string_view marked) {
  std::string out;
  for_marks(
      marked, [&](std::string_view text) { out.append(text); },
      [&](std::string_view digits) { out.append("\\udc").append(digits); });
  return out;
}

constexpr int kDeepest = 256;  // what is nested deeper is left out: each level takes stack

/// `json` with `change` applied to every string in it, names of fields included.
template <class Json, class Change>
Json changed(const Json& json, const Change& change, int depth = 0) {
  if (depth > kDeepest) return nullptr;
  if (json.is_string()) return Json(change(json.template get_ref<const std::string&>()));
  if (json.is_array()) {
    Json list = Json::array();
    for (const auto& element : json) list.push_back(changed(element, change, depth + 1));
    return list;
  }
  if (!json.is_object()) return json;
  Json object = Json::object();
  for (const auto& [name, value] : json.items()) object[change(name)] = changed(value, change, depth + 1);
  return object;
}

bool may_hold_bytes(std::string_view text) {
  for (auto at = text.find("\\u"); at != text.npos; at = text.find("\\u", at + 2))
    if (const auto unit = unit_at(text, at); unit && *unit >= 0xDC80 && *unit <= 0xDCFF) return true;
  return !is_utf8(text);
}

}  // namespace

template <class Json>
std::string json_keeping_bytes(const Json& json, int indent) {
  try {
    return json.dump(indent, ' ', false, Json::error_handler_t::strict);
  } catch (const typename Json::type_error&) {  // a string that is not UTF-8
    return with_escapes(changed(json, with_marks).dump(indent, ' ', false, Json::error_handler_t::replace));
  }
}

template <class Json>
Json parse_json_keeping_bytes(std::string_view text) {
  if (!may_hold_bytes(text)) return Json::parse(text, nullptr, false);
  const Json json = Json::parse(document_with_marks(text), nullptr, false);
  return json.is_discarded() ? json : changed(json, with_bytes);
}

template std::string json_keeping_bytes(const nlohmann::json&, int);
template std::string json_keeping_bytes(const nlohmann::ordered_json&, int);
template nlohmann::json parse_json_keeping_bytes(std::string_view);
template nlohmann::ordered_json parse_json_keeping_bytes(std::string_view);

}  // namespace tutti
