#include "device/list/emulated_card.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/numbers.h"
#include "base/strings.h"

namespace tutti {
namespace {

using Kind = EmulatedFailure::Kind;
const std::map<std::string, Kind, std::less<>> kKinds{{"die", Kind::die},         {"hang", Kind::hang},
                                                      {"stall", Kind::stall},     {"garble", Kind::garble},
                                                      {"exhaust", Kind::exhaust}, {"lost", Kind::lost}};

bool read(std::string_view text, Seconds& into) {
  const auto value = number_in<double>(text);
  into = Seconds(value.value_or(0));
  return value.has_value();
}

}  // namespace

std::int32_t EmulatedCard::windows() const {
  const std::int64_t fit = (memory.value - kModel.value) / kWindow.value;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(fit, 1, std::max(1, slots)));
}

Result<EmulatedFailure> parse_failure(const std::string& text) {
  const auto at = text.find('@');
  const std::string kind = text.substr(0, at);
  const auto known = kKinds.find(kind);
  if (known == kKinds.end()) {
    std::vector<std::string> names;
    for (const auto& [name, ignored] : kKinds) names.push_back(name);
    const std::string nearest = nearest_name(kind, names);
    return fail(Fault::usage, "failure '" + text + "': expected die, hang, stall, garble, exhaust or lost",
                nearest.empty() ? "Write it as KIND@SECONDS: lost@60+30" : "Did you mean " + nearest + "@SECONDS?");
  }
  EmulatedFailure failure{.kind = known->second};
  const std::string_view times = at == text.npos ? std::string_view() : std::string_view(text).substr(at + 1);
  const auto plus = failure.kind == Kind::lost ? times.find('+') : times.npos;
  const bool timed =
      read(times.substr(0, plus), failure.at) && failure.at >= Seconds(0) &&
      (plus == times.npos || (read(times.substr(plus + 1), failure.lasts) && failure.lasts > Seconds(0)));
  if (!timed)
    return fail(Fault::usage, "failure '" + text + "': expected a time in seconds behind @, and for lost + how long",
                "As in " + kind + "@60, or lost@60+30");
  return failure;
}

std::string text_of(const EmulatedFailure& failure) {
  std::string text;
  for (const auto& [name, kind] : kKinds)
    if (kind == failure.kind) text = name;
  text += "@" + number_text(failure.at.count());
  if (failure.lasts > Seconds(0)) text += "+" + number_text(failure.lasts.count());
  return text;
}

}  // namespace tutti
