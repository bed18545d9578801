#include "prepare/corpus.h"

#include <algorithm>
#include <utility>

#include "base/build_id.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/prepared_set.h"
#include "hub/files_of_model.h"
#include "prepare/prepare_recordings.h"
#include "prepare/prepared_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// Writes recordings into the corpus as they come.
class Collection {
 public:
  Collection(PreparedFolder& folder, const CorpusEvents& events) : folder_(folder), events_(events) {}

  Result<void> take(const fs::path& path, const Result<PreparedRecording>& prepared) {
    if (!prepared) {
      if (prepared.error().fault == Fault::cancelled) return tl::unexpected(prepared.error());
      events_.on_failed(prepared.error());
      folder_.refuse(path, prepared.error().text());
      ++failed_;
      is_short_of_some_ |= may_pass(prepared.error().fault);
      return {};
    }
    if (prepared->pieces.empty()) ++failed_;
    TRY(folder_.add(path, *prepared));
    events_.on_recording(path, *prepared);
    return {};
  }
  std::size_t failed() const { return failed_; }
  /// Whether some of them may be prepared another time.
  bool is_short_of_some() const { return is_short_of_some_; }

 private:
  PreparedFolder& folder_;
  const CorpusEvents& events_;
  std::size_t failed_ = 0;
  bool is_short_of_some_ = false;
};

std::string seconds_text(const std::optional<double>& seconds) {
  return seconds ? number_text(*seconds) : "None";
}

/// What samples follow from, beside the recordings and their texts.
std::string settings_of(const CorpusRequest& request) {
  const AudioChoice& audio = request.rules.audio;
  std::string text =
      joined(std::vector<std::string>{request.options.model.string(), request.options.compute_type,
                                      request.texts.string(), seconds_text(request.rules.window),
                                      number_text(request.rules.least_score), request.language.value_or("None")},
             "\n") +
      "\n";
  if (audio.track > 0) text += "track " + std::to_string(audio.track) + "\n";
  if (audio.channel != AudioChoice{}.channel)
    text += "channel " + (audio.channel == AudioChoice::kMix ? "mix" : std::to_string(audio.channel)) + "\n";
  return text;
}

/// The stamps of inputs by their path. One that is not named any more has its text where it had it, if not in a table.
StampOf stamps_of(const CorpusRequest& request, const std::vector<PrepareInput>& inputs) {
  return [&](const std::string& path) {
    const auto named = std::ranges::find_if(inputs, [&](const PrepareInput& input) { return input.path == path; });
    return named == inputs.end() ? stamp_of_sources(path, request.texts) : stamp_of_sources(*named, request.texts);
  };
}

/// The recordings that no earlier run has prepared.
std::vector<PrepareInput> left_of(const std::vector<PrepareInput>& inputs, PreparedFolder& folder) {
  std::vector<PrepareInput> left;
  for (const auto& input : inputs)
    if (!folder.has(input.path)) left.push_back(input);
  return left;
}

}  // namespace

TranscribeOptions corpus_options(std::size_t recordings) {
  TranscribeOptions options;
  options.build_id = build_id();
  options.deterministic = recordings > 1;                // which windows share a batch is chance
  options.long_form.condition_on_previous_text = false;  // a loop would be decoded on and on
  options.long_form.words = WordRules{};
  return options;
}

Result<OutputOwnership> claim_corpus(const CorpusRequest& request, const std::vector<std::string>& named,
                                     const std::vector<PrepareInput>& inputs) {
  OutputOwnership files("Name another folder with " + field("out"));
  for (const auto& path : named) {
    if (is_there(path)) TRY(expect_other_out(request.out, path));
    files.add_input(path);
  }
  for (const auto& input : inputs) files.add_input(input.path);  // what tables and folders name
  if (!request.texts.empty()) files.add_input(request.texts);
  for (const auto& file : files_of_model(request.options.model)) files.add_input(file);
  for (const char* folder : {"audio", "transcripts", "done"}) TRY(files.expect_no_input_in(request.out / folder));
  for (const char* list : {"metadata.csv", "refused.jsonl"}) TRY(files.claim(request.out / list, "the corpus"));
  return files;
}

Result<CorpusEnd> prepare_corpus(const CorpusRequest& request, const std::vector<PrepareInput>& inputs,
                                 const OutputOwnership& files, StopSignal& stop, const CorpusEvents& events) {
  auto folder = TRY(PreparedFolder::create(request.out, settings_of(request), stamps_of(request, inputs), files));
  const auto left = left_of(inputs, folder);
  events.on_start(inputs.size() - left.size(), inputs.size());
  const auto device = TRY(load_device(request.options, stop));
  Collection collection(folder, events);
  const PrepareSetup setup{.device = *device,
                           .options = request.options,
                           .rules = request.rules,
                           .texts = request.texts,
                           .tuning = request.tuning};
  auto taken = prepare_recordings(left, setup, stop, [&](const fs::path& path, const Result<PreparedRecording>& one) {
    return collection.take(path, one);
  });
  CorpusEnd end;
  if (!taken && !stop.raised()) end.error = taken.error();
  // Whatever ended it: hours of alignment are not lost with the last recording.
  end.is_whole = !end.error && !stop.raised() && !collection.is_short_of_some();
  if (auto finished = folder.finish(end.is_whole); !finished) end.not_written = finished.error();
  end.totals = folder.totals();
  end.failed = collection.failed();
  if (taken) {
    end.tuning = std::move(taken->tuning);
    end.finding = std::move(taken->finding);
  }
  return end;
}

}  // namespace tutti
