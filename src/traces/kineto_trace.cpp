#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "traces/event_scan.h"
#include "traces/trace_import.h"

namespace tutti {
namespace {

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

constexpr double kMostMicroseconds = 3e15;                    // 95 years
constexpr Nanoseconds kFarthest = 3'000'000'000'000'000'000;  // sums and differences of two are valid

/// What of an event counts.
enum class Category { none, launch, kernel, copy, annotation };

struct CategoryName {
  std::string_view name;
  Category category;
};

/// Those of today's Kineto, then those of PyTorch until 1.12.
constexpr std::array kCategories{
    CategoryName{"kernel", Category::kernel},      CategoryName{"cuda_runtime", Category::launch},
    CategoryName{"cuda_driver", Category::launch}, CategoryName{"gpu_memcpy", Category::copy},
    CategoryName{"gpu_memset", Category::copy},    CategoryName{"user_annotation", Category::annotation},
    CategoryName{"cpu_op", Category::annotation},  CategoryName{"Kernel", Category::kernel},
    CategoryName{"Runtime", Category::launch},     CategoryName{"Memcpy", Category::copy},
    CategoryName{"Memset", Category::copy},        CategoryName{"Operator", Category::annotation},
    CategoryName{"hip_runtime", Category::launch}};

/// "kernel" of `"kernel" ,`: a token's text without quotes. Escapes stay.
std::string_view in_quotes(std::string_view token) {
  if (token.empty() || token.front() != '"') return {};
  const auto end = token.rfind('"');
  return end == 0 ? std::string_view() : token.substr(1, end - 1);
}

/// A token's text without the blanks behind it, and without its quotes: some writers have numbers as texts.
std::string_view plain_text(std::string_view token) {
  while (!token.empty() && token.back() <= ' ') token.remove_suffix(1);
  return token.starts_with('"') ? in_quotes(token) : token;
}

/// What a profiler writes for a number that it has lost: nothing, null, NaN, an infinite number.
bool is_lost(std::string_view text) {
  if (!text.empty() && is_ascii_digit(static_cast<unsigned char>(text.back()))) return false;
  std::string word = ascii_lower(text);
  if (word.starts_with('-') || word.starts_with('+')) word.erase(0, 1);
  return word.empty() || word == "null" || word == "none" || word.starts_with("nan") || word.starts_with("inf");
}

/// "7", "7.0", "0x7f01" as AMD's tools write an address.
std::optional<std::int64_t> number_of_text(std::string_view text) {
  if (const auto number = number_in<std::int64_t>(text)) return number;
  if (const auto number = number_in<double>(text); number && std::abs(*number) < 9e18)
    return static_cast<std::int64_t>(*number);
  std::uint64_t bits = 0;
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const auto [end, error] = std::from_chars(text.data() + (is_hex ? 2 : 0), text.data() + text.size(), bits, 16);
  if (is_hex && error == std::errc() && end == text.data() + text.size()) return static_cast<std::int64_t>(bits);
  return {};
}

/// Microseconds with decimals as nanoseconds, exact: a double has not the digits for today's clocks.
std::optional<Nanoseconds> nanoseconds_in(std::string_view token) {
  const bool is_negative = !token.empty() && token.front() == '-';
  const std::string_view digits = token.substr(is_negative ? 1 : 0);
  Nanoseconds value = 0;
  int decimals = -1;
  for (const char c : digits) {
    if (c == '.' && decimals < 0) {
      decimals = 0;
    } else if (c >= '0' && c <= '9') {
      if (decimals >= 3) continue;  // less than a nanosecond
      if (value > 900'000'000'000'000'000) return is_negative ? -kFarthest : kFarthest;
      value = 10 * value + (c - '0');
      decimals += decimals >= 0;
    } else {
      const auto number = number_in<double>(token);  // with an exponent
      if (!number) return {};
      if (!(std::abs(*number) < kMostMicroseconds)) return *number < 0 ? -kFarthest : kFarthest;
      return static_cast<Nanoseconds>(std::llround(*number * 1000));
    }
  }
  if (digits.empty()) return {};
  for (int i = std::max(decimals, 0); i < 3; ++i) {
    if (value > 900'000'000'000'000'000) return is_negative ? -kFarthest : kFarthest;
    value *= 10;
  }
  return is_negative ? -value : value;
}

struct Event {
  bool is_complete = true;  // "ph" is "X", so that it has a length
  bool has_category = false;
  Category category = Category::none;
  std::string_view name{};
  std::optional<Nanoseconds> start{}, length{};  // none: absent, or lost
  std::int64_t correlation = -1, stream = 0, device = 0;

  bool counts() const { return is_complete && (!has_category || category != Category::none); }
};

/// A fault in an event: where in the chunk, and what was expected there.
struct EventFault {
  const char* at = nullptr;  // nullptr: not known more closely
  std::string expected{};
};

class KinetoReader {
 public:
  KinetoReader(EventChunks& chunks, TraceCollector& collector) : chunks_(chunks), collector_(collector) {}

  Result<void> read(const EventChunk& chunk) {
    const simdjson::padded_string_view json(chunk.json.data(), chunk.json.size(), chunk.capacity);
    ondemand::document document;
    auto failed = parser_.iterate(json).get(document);
    if (failed == simdjson::UTF8_ERROR || failed == simdjson::UNESCAPED_CHARS) {
      clean_bytes(chunk.json);
      failed = parser_.iterate(json).get(document);
    }
    if (failed) return fault(chunk, {}, failed);
    ondemand::array events;
    if (const auto error = document.get_array().get(events)) return fault(chunk, {}, error);
    for (auto element : events) {
      ondemand::object object;
      if (const auto error = element.get_object().get(object))
        return fault(chunk, location(document, "an event"), error);
      Event event;
      EventFault what;
      if (const auto error = read_event(object, event, what)) {
        if (!what.at) what.at = location(document, "").at;
        return fault(chunk, what, error);
      }
      if (auto added = add(event); !added) return added;
    }
    return {};
  }

 private:
  static EventFault location(ondemand::document& document, std::string expected) {
    const char* at = nullptr;
    if (document.current_location().get(at)) at = nullptr;
    return {at, std::move(expected)};
  }

  tl::unexpected<Error> fault(const EventChunk& chunk, EventFault what, error_code error) const {
    const char* const start = chunk.json.data();
    const bool is_inside = what.at >= start && what.at < start + chunk.json.size();
    const std::int64_t at = chunk.at + (is_inside ? what.at - start : 0);
    if (what.expected.empty()) what.expected = is_inside ? "an event" : "events";
    std::string found = simdjson::error_message(error);
    if (!is_inside) found += " in the " + std::to_string(chunk.json.size()) + " bytes from there on";
    while (!found.empty() && found.back() == '.') found.pop_back();
    return tl::unexpected(chunks_.error_at(at, what.expected, found));
  }

  /// A number that has a meaning only beside others: any other text gets one of its own.
  static error_code read_number(ondemand::value& value, std::int64_t& number, EventFault& fault) {
    const auto token = value.raw_json_token();
    const std::string_view text = plain_text(token);
    const bool is_text = token.starts_with('"');
    if (is_lost(text)) return simdjson::SUCCESS;
    if (const auto found = number_of_text(text)) {
      number = *found;
    } else if (is_text) {
      number = static_cast<std::int64_t>(std::hash<std::string_view>()(text) >> 11);  // a double holds that many bits
    } else {
      fault = {token.data(), "a number, or a text"};
      return simdjson::INCORRECT_TYPE;
    }
    return simdjson::SUCCESS;
  }

  static error_code read_time(ondemand::value& value, std::optional<Nanoseconds>& time, EventFault& fault,
                              const char* expected) {
    const auto token = value.raw_json_token();
    const std::string_view text = plain_text(token);
    time = is_lost(text) ? std::nullopt : nanoseconds_in(text);
    if (time || is_lost(text)) return simdjson::SUCCESS;
    fault = {token.data(), expected};
    return simdjson::INCORRECT_TYPE;
  }

  static error_code read_arguments(ondemand::value& value, Event& event, EventFault& fault) {
    ondemand::object arguments;
    if (const auto error = value.get_object().get(arguments)) return error;
    for (auto field : arguments) {
      ondemand::raw_json_string key;
      if (const auto error = field.key().get(key)) return error;
      std::int64_t* number = is(key, "correlation\"") ? &event.correlation
                             : is(key, "stream\"")    ? &event.stream
                             : is(key, "device\"")    ? &event.device
                                                      : nullptr;
      if (!number) continue;
      ondemand::value argument;
      if (const auto error = field.value().get(argument)) return error;
      if (const auto error = read_number(argument, *number, fault)) return error;
    }
    return simdjson::SUCCESS;
  }

  static bool is(const ondemand::raw_json_string& key, std::string_view quoted) {
    return std::memcmp(key.raw(), quoted.data(), quoted.size()) == 0;
  }

  static error_code read_event(ondemand::object& object, Event& event, EventFault& fault) {
    for (auto field : object) {
      ondemand::raw_json_string key;
      if (const auto error = field.key().get(key)) return error;
      ondemand::value value;
      if (const auto error = field.value().get(value)) return error;
      if (is(key, "ph\"")) {
        event.is_complete = in_quotes(value.raw_json_token()) == "X";
      } else if (is(key, "cat\"")) {
        const auto found = std::ranges::find(kCategories, in_quotes(value.raw_json_token()), &CategoryName::name);
        event.has_category = true;
        event.category = found == kCategories.end() ? Category::none : found->category;
      } else if (is(key, "name\"")) {
        event.name = in_quotes(value.raw_json_token());
      } else if (is(key, "ts\"")) {
        if (const auto error = read_time(value, event.start, fault, "a time in microseconds")) return error;
      } else if (is(key, "dur\"")) {
        if (const auto error = read_time(value, event.length, fault, "a length in microseconds")) return error;
      } else if (is(key, "args\"") && event.category != Category::annotation) {
        if (const auto error = read_arguments(value, event, fault)) return error;
      }
      if (!event.counts()) break;
    }
    return simdjson::SUCCESS;
  }

  Result<void> add(const Event& event) {
    if (!event.counts() || !event.has_category) return {};
    const bool is_work = event.category == Category::kernel || event.category == Category::copy;
    if (!event.start || !event.length || (is_work && *event.length < 0)) {
      if (event.category != Category::annotation) collector_.leave_out();
      return {};
    }
    const Nanoseconds length = std::clamp<Nanoseconds>(*event.length, 0, kFarthest);
    const Nanoseconds start = std::clamp<Nanoseconds>(*event.start, -kFarthest, kFarthest);
    const HostSpan span{start, start + length};
    const TraceCollector::Origin origin{0, event.correlation};
    switch (event.category) {
      case Category::launch: return collector_.add_launch(origin, event.name, span);
      case Category::annotation: return collector_.add_annotation(0, event.name, span);
      case Category::kernel:
      case Category::copy:
        return collector_.add_work(
            origin, static_cast<std::int32_t>(event.device & 0x7fff'ffff), event.name,
            {.start = span.start,
             .end = span.end,
             .stream = event.stream,
             .kind = event.category == Category::copy ? DeviceWorkKind::copy : DeviceWorkKind::compute});
      case Category::none: break;
    }
    return {};
  }

  EventChunks& chunks_;
  TraceCollector& collector_;
  ondemand::parser parser_{};
};

/// The rank in the value of "distributedInfo"; none: there is none.
std::optional<int> rank_in(const std::string& info) {
  if (info.empty()) return {};
  const simdjson::padded_string json(info);
  ondemand::parser parser;
  ondemand::document document;
  std::int64_t rank = 0;
  if (std::move(parser.iterate(json)).get(document) || document["rank"].get_int64().get(rank)) return {};
  return rank >= 0 && rank < 1'000'000 ? std::optional(static_cast<int>(rank)) : std::nullopt;
}

}  // namespace

Result<std::optional<int>> read_kineto(ReadText text, const std::string& name, TraceCollector& collector) {
  EventChunks chunks(std::move(text), name);
  KinetoReader reader(chunks, collector);
  for (;;) {
    const auto chunk = TRY(chunks.next());
    if (!chunk) return rank_in(chunks.distributed_info());
    TRY(reader.read(*chunk));
  }
}

}  // namespace tutti
