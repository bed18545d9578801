#include "audio/losses.h"

#include <algorithm>
#include <cstdio>

namespace tutti {
namespace {

constexpr std::size_t kKindsKept = 8;

}  // namespace

std::string position_text(Seconds at) {
  const long long tenths = static_cast<long long>(at.count() * 10);
  char text[48];
  std::snprintf(text, sizeof text, "%02lld:%02lld:%02lld.%lld", tenths / 36000, tenths / 600 % 60, tenths / 10 % 60,
                tenths % 10);
  return text;
}

void Losses::add(Seconds at, std::string what) {
  ++count_;
  const auto same = std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& kind) { return kind.what == what; });
  if (same != kinds_.end()) {
    same->last = at;
    ++same->count;
  } else if (kinds_.size() < kKindsKept) {
    kinds_.push_back({std::move(what), at, at, 1});
  } else {
    ++others_;
  }
}

std::vector<std::string> Losses::sentences() const {
  std::vector<std::string> all;
  for (const Kind& kind : kinds_) {
    std::string sentence = "at " + position_text(kind.first) + ": " + kind.what;
    if (kind.count > 1)
      sentence += " (" + std::to_string(kind.count) + " times, last at " + position_text(kind.last) + ")";
    all.push_back(std::move(sentence));
  }
  if (others_ > 0) all.push_back("and " + std::to_string(others_) + " complaints of other kinds");
  return all;
}

}  // namespace tutti
