#include "base/numbers.h"
#include "view/review/review_list.h"
#include "view/review/review_times.h"

namespace tutti {
namespace {

constexpr const char* kReviewCsvHeader = "recording,position,reason,severity,excerpt,transcript\r\n";

std::string cell(std::string text) {
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string review_csv(const ReviewList& list) {
  std::string out = kReviewCsvHeader;
  for (const ReviewRecording& recording : list.recordings)
    for (const ReviewFinding& finding : recording.findings)
      out += cell(recording.name) + "," + position_text(finding.start, finding.end) + "," +
             cell(finding.kind + ": " + finding.reason) + "," + fixed_text(finding.severity, 2) + "," +
             cell(finding.excerpt) + "," + cell(recording.transcript) + "\r\n";
  return out;
}

}  // namespace tutti
