#include "traces/event_scan.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace tutti {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);
constexpr std::size_t kLongestKey = 64;
constexpr int kValuesAhead = 2;  // that are looked at to decide whether a quote ends a text

// Of Chrome's format, with what Kineto writes first.
constexpr std::array<std::string_view, 26> kEventKeys{
    "ph",  "cat",     "name",    "pid",      "tid",   "ts", "dur",     "args",   "id",
    "s",   "bp",      "cname",   "tts",      "tdur",  "sf", "stack",   "esf",    "estack",
    "id2", "bind_id", "flow_in", "flow_out", "scope", "v",  "dropped", "tidelta"};

/// What decides where texts, events and their values begin and end.
constexpr std::array<bool, 256> kStructure = [] {
  std::array<bool, 256> is_structure{};
  for (const unsigned char c : std::string_view("\"{}[],")) is_structure[c] = true;
  return is_structure;
}();

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool begins_plain_value(char c) {  // a number, true, false, null, or what is none in JSON: NaN, Infinity
  return (c >= '0' && c <= '9') || c == '-' || c == 't' || c == 'f' || c == 'n' || c == 'N' || c == 'I' || c == 'i';
}

/// Whether what follows a quote can be the rest of an event.
enum class Rest { fits, differs, unknown };

class EventScanner {
 public:
  EventScanner(std::span<char> text, bool is_whole) : text_(text), is_whole_(is_whole) {}

  EventScan run() {
    EventScan found;
    for (std::size_t at = 0; at < text_.size();) {
      const char c = text_[at];
      if (!kStructure[static_cast<std::uint8_t>(c)]) {
        ++at;
        continue;
      }
      if (c == '"') {
        at = is_key_ ? end_of_key(at) : end_of_value(at);
        if (at == kNone) return found;
        is_key_ = false;
        continue;
      }
      if (c == '{' || c == '[') {
        open_.push_back(c);
        is_key_ = c == '{';
      } else if (c == '}' || c == ']') {
        if (open_.empty()) return {.end = at, .is_last = true, .is_brace = c == '}'};
        open_.pop_back();
        is_key_ = false;
        if (open_.empty()) found.end = at + 1;
      } else {
        is_key_ = !open_.empty() && open_.back() == '{';
      }
      ++at;
    }
    return found;
  }

 private:
  std::size_t quote_from(std::size_t at) const {
    if (at >= text_.size()) return kNone;
    const auto* found = static_cast<const char*>(std::memchr(text_.data() + at, '"', text_.size() - at));
    return found ? static_cast<std::size_t>(found - text_.data()) : kNone;
  }

  /// Whether the quote at `at` is behind an odd number of backslashes, of a text that begins at `from`.
  bool is_escaped(std::size_t from, std::size_t at) const {
    std::size_t first = at;
    while (first > from && text_[first - 1] == '\\') --first;
    return (at - first) % 2 == 1;
  }

  std::size_t end_of_key(std::size_t open) const {
    std::size_t at = quote_from(open + 1);
    while (at != kNone && is_escaped(open + 1, at)) at = quote_from(at + 1);
    return at == kNone ? kNone : at + 1;
  }

  /// Behind the quote that ends the text from `open` on; kNone: it is not here, or what follows is not.
  std::size_t end_of_value(std::size_t open) {
    for (std::size_t at = quote_from(open + 1); at != kNone; at = quote_from(at + 1)) {
      const bool is_hidden = is_escaped(open + 1, at);
      const Rest rest = is_hidden ? rest_behind_hidden(at + 1) : rest_behind(at + 1, open_.size(), kValuesAhead);
      if (rest == Rest::unknown) return kNone;
      if (rest == Rest::fits) {
        if (is_hidden) text_[at - 1] = '/';
        return at + 1;
      }
      if (!is_hidden) text_[at] = '\'';
    }
    return kNone;
  }

  Rest at_end() const { return is_whole_ ? Rest::fits : Rest::unknown; }

  std::size_t past_blanks(std::size_t at) const {
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at;
  }

  /// Behind a value at `depth`: the rest of its event can follow.
  Rest rest_behind(std::size_t at, std::size_t depth, int values) const {
    at = past_blanks(at);
    if (at == text_.size()) return at_end();
    if (depth == 0) return rest_behind_event(at, values);
    const char c = text_[at];
    const bool is_object = open_[depth - 1] == '{';
    if (c == (is_object ? '}' : ']')) return rest_behind(at + 1, depth - 1, values);
    if (c != ',') return Rest::differs;
    if (is_object) return member_from(at + 1, depth, values);
    at = past_blanks(at + 1);
    if (at == text_.size()) return at_end();
    return text_[at] == '"' || text_[at] == '[' || text_[at] == '{' || begins_plain_value(text_[at]) ? Rest::fits
                                                                                                     : Rest::differs;
  }

  Rest rest_behind_event(std::size_t at, int values) const {
    if (text_[at] == ']') return Rest::fits;
    if (text_[at] != ',') return Rest::differs;
    at = past_blanks(at + 1);
    if (at == text_.size()) return at_end();
    if (text_[at] == ']') return Rest::fits;
    return text_[at] == '{' ? member_from(at + 1, 1, values) : Rest::differs;
  }

  /// A hidden quote ends a text only where a member of an event follows that no escaped text has.
  Rest rest_behind_hidden(std::size_t at) const {
    if (open_.size() != 1) return Rest::differs;
    at = past_blanks(at);
    if (at == text_.size()) return is_whole_ ? Rest::differs : Rest::unknown;
    if (text_[at] != ',') return Rest::differs;
    const Key key = key_from(past_blanks(at + 1));
    return key.rest == Rest::fits && !key.is_known ? Rest::differs : key.rest;
  }

  struct Key {
    Rest rest = Rest::differs;
    bool is_known = false;   // of an event
    std::size_t behind = 0;  // its colon
  };

  Key key_from(std::size_t at) const {
    if (at >= text_.size()) return {at_end()};
    if (text_[at] != '"') return {};
    const std::size_t begin = at + 1, most = std::min(text_.size(), begin + kLongestKey);
    std::size_t end = begin;
    while (end < most && text_[end] != '"' && text_[end] != '\\' && text_[end] >= ' ') ++end;
    if (end == text_.size()) return {at_end()};
    if (text_[end] != '"') return {};
    const std::string_view name(text_.data() + begin, end - begin);
    at = past_blanks(end + 1);
    if (at == text_.size()) return {at_end()};
    if (text_[at] != ':') return {};
    return {Rest::fits, std::ranges::find(kEventKeys, name) != kEventKeys.end(), at + 1};
  }

  /// A member can begin there: a key, and a value that suits it.
  Rest member_from(std::size_t at, std::size_t depth, int values) const {
    at = past_blanks(at);
    if (at < text_.size() && text_[at] == '}') return rest_behind(at + 1, depth - 1, values);  // there is none
    const Key key = key_from(at);
    if (key.rest != Rest::fits || key.behind == 0) return key.rest;
    return value_from(key.behind, depth, values, depth == 1 && key.is_known);
  }

  Rest value_from(std::size_t at, std::size_t depth, int values, bool is_known) const {
    at = past_blanks(at);
    if (at == text_.size()) return at_end();
    if (values == 0 || text_[at] == '{' || text_[at] == '[') return Rest::fits;
    if (text_[at] == '"') {
      if (is_known) return Rest::fits;  // it may itself have quotes within
      std::size_t end = quote_from(at + 1);
      while (end != kNone && is_escaped(at + 1, end)) end = quote_from(end + 1);
      return end == kNone ? at_end() : rest_behind(end + 1, depth, values - 1);
    }
    if (!begins_plain_value(text_[at])) return Rest::differs;
    while (at < text_.size() && !is_blank(text_[at]) && !std::strchr(",]}\"", text_[at])) ++at;
    return at == text_.size() ? at_end() : rest_behind(at, depth, values - 1);
  }

  std::span<char> text_;
  bool is_whole_;
  bool is_key_ = false;       // a text that begins here is a member's name
  std::vector<char> open_{};  // '{' and '[' around
};

/// How many bytes the character at the start of `text` has; 0: it is no UTF-8.
std::size_t utf8_length(std::span<const char> text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const std::uint8_t second = byte(1);
  const bool is_too_long = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool is_no_character = (lead == 0xed && second >= 0xa0) || (lead == 0xf4 && second >= 0x90);
  return is_too_long || is_no_character ? 0 : length;
}

}  // namespace

EventScan scan_events(std::span<char> text, bool is_whole) {
  return EventScanner(text, is_whole).run();
}

void clean_bytes(std::span<char> text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.subspan(at));
    if (length == 0) text[at] = '?';
    if (length == 1 && static_cast<std::uint8_t>(text[at]) < ' ') text[at] = ' ';
    at += std::max<std::size_t>(1, length);
  }
}

}  // namespace tutti
