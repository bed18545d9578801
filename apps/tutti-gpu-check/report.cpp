#include "report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tutti {

void Report::add(Finding finding) {
  if (!quiet_) {
    const char* verdict = !finding.passed ? "" : *finding.passed ? "ok" : "FAILED";
    std::printf("%-9s %-44s %12.5g %-16s %s\n", finding.check.c_str(), finding.what.c_str(), finding.value,
                finding.unit.c_str(), verdict);
    std::fflush(stdout);
  }
  findings_.push_back(std::move(finding));
}

void Report::note(const std::string& text) {
  if (!quiet_) std::printf("%s\n", text.c_str());
  notes_.push_back(text);
}

bool Report::passed() const {
  return std::ranges::none_of(findings_, [](const Finding& finding) { return finding.passed == false; });
}

std::string Report::json(const std::string& device) const {
  nlohmann::ordered_json whole{{"device", device}, {"passed", passed()}, {"notes", notes_}};
  for (const auto& finding : findings_) {
    nlohmann::ordered_json line{
        {"check", finding.check}, {"what", finding.what}, {"value", finding.value}, {"unit", finding.unit}};
    if (finding.passed) line["passed"] = *finding.passed;
    whole["findings"].push_back(line);
  }
  return whole.dump(2);
}

}  // namespace tutti
