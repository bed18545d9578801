#include <utility>

#include "base/json.h"
#include "profile/pipeline_tuner.h"
#include "text/json_bytes.h"
#include "transcribe/reports/run_report.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Json& event) {
  return json_keeping_bytes(event) + "\n";
}

Json time_json(const TimeSpent& spent) {
  return {{"decoding", spent.audio.count()},    {"listening", spent.listening.count()},
          {"features", spent.features.count()}, {"encoder", spent.encoder.count()},
          {"decoder", spent.decoder.count()},   {"waiting", spent.waiting.count()},
          {"writing", spent.writing.count()}};
}

void add_counts(Json& event, const WindowCounts& counts) {
  event["windows"] = counts.windows;
  event["decodings"] = counts.decodings;
  event["decoder_steps"] = counts.decoder_steps;
  event["narrow_margins"] = counts.narrow_margins;
  event["sequence_steps"] = counts.sequence_steps;
  event["batch_steps"] = counts.batch_steps;
  event["batch_fill"] = counts.batch_fill();
}

Json outputs_json(const std::vector<std::filesystem::path>& outputs) {
  Json out = Json::array();
  for (const auto& output : outputs) out.push_back(output.string());
  return out;
}

Json failed_event(const std::string& file, const std::string& what, const std::string& hint) {
  return {{"event", "failed"}, {"file", file}, {"error", what}, {"hint", hint}};
}

Json skipped_event(const std::string& file) {
  return {{"event", "skipped"}, {"file", file}};
}

Json words_json(const std::vector<Word>& words) {
  Json out = Json::array();
  for (const Word& word : words)
    out.push_back({{"word", word.word}, {"start", word.start}, {"end", word.end}, {"probability", word.probability}});
  return out;
}

class JsonEvents final : public RunObserver {
 public:
  JsonEvents(const std::vector<PlannedFile>& files, OnLine on_line) : files_(files), on_line_(std::move(on_line)) {
    for (const PlannedFile& file : files)
      if (file.already_done) emit(skipped_event(file.input.string()));
  }

  void on_ready(const std::string& device, const std::string& compute_type, Seconds load) override {
    emit({{"event", "ready"}, {"device", device}, {"compute_type", compute_type}, {"load_seconds", load.count()}});
  }
  void on_decoded(std::size_t index, const Recording& recording) override {
    Json event{{"event", "decoded"},
               {"file", name(index)},
               {"duration", recording.duration().count()},
               {"losses", recording.losses()}};
    if (!recording.notes().empty()) event["notes"] = recording.notes();
    emit(event);
  }
  void on_progress(std::size_t index, Seconds /*position*/, const std::vector<Segment>& fresh) override {
    for (const auto& segment : fresh) {
      Json event{{"event", "segment"},
                 {"file", name(index)},
                 {"start", segment.start},
                 {"end", segment.end},
                 {"text", segment.text}};
      if (!segment.words.empty()) event["words"] = words_json(segment.words);
      emit(event);
    }
  }
  void on_done(const FileOutcome& outcome, const Transcript& transcript) override {
    Json event{{"event", "done"},
               {"file", name(outcome.index)},
               {"outputs", outputs_json(outcome.outputs)},
               {"replaced", outputs_json(outcome.replaced)},
               {"language", transcript.language},
               {"duration", outcome.duration.count()},
               {"elapsed", outcome.elapsed.count()}};
    if (outcome.without_speech) event["without_speech"] = true;
    if (outcome.replacements > 0) event["replacements"] = outcome.replacements;
    for (const SpeakerSummary& one : outcome.speakers)
      event["speakers"].push_back({{"speaker", one.speaker},
                                   {"seconds", one.seconds},
                                   {"nearest", one.nearest},
                                   {"cosine", one.cosine},
                                   {"doubtful", one.is_doubtful}});
    add_counts(event, outcome.counts);
    event["forced_cuts"] = outcome.forced_cuts;
    event["seconds"] = time_json(outcome.spent);
    emit(event);
  }
  void on_failed(std::size_t index, const Error& error) override {
    emit(failed_event(name(index), error.what, error.hint));
  }

 private:
  std::string name(std::size_t index) const { return files_[index].input.string(); }
  void emit(const Json& event) const { on_line_(line_of(event)); }

  const std::vector<PlannedFile>& files_;
  const OnLine on_line_;
};

}  // namespace

std::unique_ptr<RunObserver> make_json_events(const std::vector<PlannedFile>& files, OnLine on_line) {
  return std::make_unique<JsonEvents>(files, std::move(on_line));
}

std::string planned_json(const PlannedFile& file, const std::string& problem) {
  const std::string name = file.input.string();
  if (file.already_done) return line_of(skipped_event(name));
  if (!problem.empty()) return line_of(failed_event(name, name + ": " + problem, ""));
  return line_of({{"event", "planned"}, {"file", name}, {"outputs", outputs_json(file.outputs)}});
}

std::string summary_json(const RunSummary& summary) {
  Json event{{"event", "summary"},
             {"files", summary.files},
             {"done", summary.done},
             {"skipped", summary.skipped},
             {"failed", summary.failed},
             {"replaced", summary.replaced.size()},
             {"without_speech", summary.without_speech},
             {"audio_seconds", summary.audio.count()},
             {"elapsed_seconds", summary.elapsed.count()},
             {"speed", summary.elapsed > Seconds(0) ? summary.audio / summary.elapsed : 0.0},
             {"model_load_seconds", summary.model_load.count()}};
  if (summary.replacements > 0) event["replacements"] = summary.replacements;
  if (summary.failed_commands > 0) event["failed_commands"] = summary.failed_commands;
  add_counts(event, summary.counts);
  event["worker_restarts"] = summary.worker_restarts;
  event["interrupted"] = summary.interrupted;
  event["seconds"] = time_json(summary.spent);
  if (summary.tuning) event["tuning"] = tuning_json(*summary.tuning);
  if (!summary.finding.empty()) event["finding"] = summary.finding;
  return line_of(event);
}

}  // namespace tutti
