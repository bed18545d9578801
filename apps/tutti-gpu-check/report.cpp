#include "report.h"

#include <algorithm>
#include <cstdio>

#include "base/json.h"
#include "base/strings.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// Out at once: a run that is stopped has printed what it found. What a library threw may be in any encoding.
void print(const Json& line) {
  std::printf("%s\n", line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

}  // namespace

void Report::fail(const std::string& check) {
  if (std::ranges::find(failed_, check) == failed_.end()) failed_.push_back(check);
}

void Report::add(const Finding& finding) {
  if (finding.passed == false) fail(finding.check);
  if (json_) {
    Json line{{"check", finding.check}, {"what", finding.what}, {"value", finding.value}, {"unit", finding.unit}};
    if (finding.passed) line["passed"] = *finding.passed;
    return print(line);
  }
  const char* status = !finding.passed ? "" : *finding.passed ? "ok" : "FAILED";
  std::printf("%-9s %-44s %12.5g %-16s %s\n", finding.check.c_str(), finding.what.c_str(), finding.value,
              finding.unit.c_str(), status);
  std::fflush(stdout);
}

void Report::note(const std::string& text) const {
  if (json_) return print({{"note", text}});
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void Report::close(const std::string& device) const {
  if (json_) return print({{"device", device}, {"passed", passed()}, {"failed", failed_}});
  std::printf("%s\n", passed() ? "all checks passed" : ("FAILED: " + joined(failed_, ", ")).c_str());
  std::fflush(stdout);
}

}  // namespace tutti
