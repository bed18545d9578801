#include "doctor/findings.h"

#include <algorithm>

#include "view/text.h"

namespace tutti {

namespace {

constexpr std::size_t kMark = 6, kThing = 14;

}  // namespace

const char* mark_of(Finding::Level level) {
  switch (level) {
    case Finding::Level::good: return "ok";
    case Finding::Level::note: return "note";
    case Finding::Level::broken:
    case Finding::Level::fatal: break;
  }
  return "BAD";
}

Finding::Level Findings::worst() const {
  Level worst = Level::good;
  for (const auto& finding : all_) worst = std::max(worst, finding.level);
  return worst;
}

std::string Findings::text() const {
  std::string text;
  for (const auto& finding : all_) {
    text += fitted(mark_of(finding.level), kMark) + fitted(finding.thing, kThing) + finding.found + "\n";
    if (!finding.remedy.empty()) text += std::string(kMark + kThing, ' ') + "-> " + finding.remedy + "\n";
  }
  return text;
}

}  // namespace tutti
