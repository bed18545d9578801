#include "view/review/review_times.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tutti {
namespace {

std::string clock_of(Seconds at) {
  const auto tenths = std::llround(std::max(0.0, at.count()) * 10);
  char text[48];
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld.%lld", tenths / 36000, tenths / 600 % 60, tenths / 10 % 60,
                tenths % 10);
  return text;
}

}  // namespace

std::string position_text(Seconds start, Seconds end) {
  return clock_of(start) + "-" + clock_of(end);
}

}  // namespace tutti
