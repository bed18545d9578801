#include <algorithm>
#include <utility>

#include "base/json.h"
#include "review/review.h"
#include "text/json_bytes.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ReviewRecording& recording) {
  Json findings = Json::array();
  for (const ReviewFinding& finding : recording.findings)
    findings.push_back({{"kind", finding.kind},
                        {"start_seconds", finding.start.count()},
                        {"end_seconds", finding.end.count()},
                        {"severity", finding.severity},
                        {"reason", finding.reason},
                        {"excerpt", finding.excerpt}});
  Json entry{{"recording", recording.name}, {"transcript", recording.transcript}, {"doubt", recording.doubt}};
  if (recording.length > Seconds(0)) entry["length_seconds"] = recording.length.count();
  entry["findings"] = std::move(findings);
  return entry;
}

Json json_of(const ReviewConversation& conversation) {
  Json speakers = Json::array();
  for (std::size_t i = 0; i < conversation.speakers.size(); ++i)
    speakers.push_back({{"speaker", conversation.speakers[i]},
                        {"seconds", conversation.length_of(i).count()},
                        {"turns", std::ranges::count(conversation.turns, i, &ReviewTurn::speaker)}});
  return {{"recording", conversation.name}, {"transcript", conversation.transcript}, {"speakers", std::move(speakers)}};
}

}  // namespace

std::string review_json(const ReviewList& list) {
  Json out{{"version", 1},
           {"looked_at", list.looked_at},
           {"not_heard", list.without_audio},
           {"without_speech", list.without_speech},
           {"not_read", list.not_read},
           {"recordings", Json::array()}};
  for (const ReviewRecording& recording : list.recordings) out["recordings"].push_back(json_of(recording));
  if (list.with_speakers > 0) {
    out["with_speakers"] = list.with_speakers;
    out["conversations"] = Json::array();
  }
  for (const ReviewConversation& conversation : list.conversations)
    out["conversations"].push_back(json_of(conversation));
  return json_keeping_bytes(out);
}

}  // namespace tutti
