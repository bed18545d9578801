#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/build_id.h"
#include "base/files.h"
#include "base/json.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "cli/prepare/build_progress.h"
#include "cli/prepare/prepare_inputs.h"
#include "cli/prepare/prepare_recordings.h"
#include "cli/prepare/prepared_folder.h"
#include "hub/files_of_model.h"
#include "profile/pipeline_tuner.h"
#include "view/text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct PrepareCommand {
  std::vector<std::string> words{};  // "whisper", then recordings
  fs::path out{};
  fs::path texts{};
  std::string model{};
  std::string device = "auto";
  std::string compute_type = "default";
  std::int32_t threads = 0;
  std::int32_t files_at_once = 0;
  std::optional<std::string> language{};
  PrepareRules rules{};
  AudioFlags audio{};
  TuningFlags tuning{};
  bool json = false;
  fs::path trace{};
};

OptionTable table_of(PrepareCommand& c) {
  OptionTable table("prepare",
                    "Make a corpus for 'tutti train' of long recordings and their texts. 'whisper' finds out by a "
                    "model's attention when each word was spoken, cuts between words into samples that fit a model's "
                    "window, and leaves out text that is not in the audio; OUT/refused.jsonl lists which and why. "
                    "'tutti prepare classifier --help' is about folders of labelled sounds, 'tutti prepare tts --help' "
                    "about voices.");
  table.positional(
      c.words, "whisper INPUT...",
      "recordings, or folders, globs, lists and tables of them, as 'tutti batch' takes them; the text is in "
      "a table's column text (with start and end: of parts), or beside NAME.mp3 as NAME.srt or .vtt, "
      "NAME.json (a transcript), or NAME.txt (text without times). Sound descriptions and speakers in it "
      "are left out",
      2);
  table.add("out", c.out, "DIR", "the corpus: audio/, metadata.csv, transcripts/, refused.jsonl");
  table.add("texts", c.texts, "DIR", "where the texts are, if not beside the recordings");
  table.add("model", c.model, "DIR|NAME", "the model that aligns, as for 'tutti transcribe'");
  table.add("window-seconds", c.rules.window, "S|None", "a sample lasts at most; None: the model's window, 30");
  table.add("least-score", c.rules.least_score, "SHARE",
            "text whose words are less probable than this on average, 0 to 1, is left out");
  table.add("language", c.language, "LANGUAGE|None",
            "language of the recordings, for a multilingual model: a code, a tag or a name; None or auto: detected in "
            "the first 30 s");
  add_audio(table, c.audio);
  table.add("device", c.device, "DEVICE", "as for 'tutti transcribe'");
  table.add("compute-type", c.compute_type, "TYPE", "as for 'tutti transcribe'");
  table.add("threads", c.threads, "N", "CPU threads of the network; 0: one per core");
  table.add(
      "files-at-once", c.files_at_once, "N",
      "recordings in work together, which changes nothing but the speed; 0: as many as the worker steps together, or "
      "more where that is faster");
  add_tuning(table, c.tuning, "those that decode, and --files-at-once where it is 0");
  table.add_switch("json", c.json, "the summary as one JSON object on standard output");
  add_trace(table, c.trace);
  return table;
}

Result<void> check(const PrepareCommand& c) {
  if (c.words[0] != "whisper")
    return fail(Fault::usage, "expected the kind 'whisper', 'classifier' or 'tts', found '" + c.words[0] + "'",
                "See 'tutti prepare --help'");
  if (c.out.empty() || c.model.empty())
    return fail(Fault::usage, "prepare needs a model and a folder for the corpus", "Name them with --model and --out");
  if (c.rules.window && (*c.rules.window < 5 || *c.rules.window > 30))
    return fail(Fault::usage, "--window-seconds: expected 5 to 30, found " + show_value(*c.rules.window));
  if (c.rules.least_score < 0 || c.rules.least_score > 1)
    return fail(Fault::usage, "--least-score: expected 0 to 1, found " + show_value(c.rules.least_score));
  if (const auto language = plain_language(c.language))
    if (const auto code = language_code_of(*language); !code) return tl::unexpected(code.error());
  return check_machine({c.device, c.threads, c.files_at_once});
}

TranscribeOptions options_of(const PrepareCommand& c, const fs::path& model, std::size_t recordings) {
  TranscribeOptions options;
  options.build_id = build_id();
  options.model = model;
  options.device = c.device;
  options.compute_type = c.compute_type;
  options.threads = c.threads;
  options.deterministic = recordings > 1;  // which windows share a batch is chance
  options.files_at_once = c.files_at_once;
  if (const auto language = plain_language(c.language))
    options.long_form.language = language_code_of(*language).value();
  options.long_form.condition_on_previous_text = false;  // a loop would be decoded on and on
  options.long_form.words = WordRules{};
  return options;
}

/// The machine was short of something, or another process in the way: the recording may well be as good as any.
bool may_pass(Fault fault) {
  return fault == Fault::exhausted || fault == Fault::full || fault == Fault::unavailable;
}

/// Checks that no part of the corpus replaces what it is made of.
Result<OutputOwnership> claim_corpus(const PrepareCommand& c, const std::vector<PrepareInput>& inputs,
                                     const fs::path& model) {
  OutputOwnership files("Name another folder with --out");
  for (const auto& path : std::span(c.words).subspan(1)) {
    if (auto other = expect_other_out(c.out, path); is_there(path) && !other) return tl::unexpected(other.error());
    files.add_input(path);
  }
  for (const auto& input : inputs) files.add_input(input.path);  // what tables and folders name
  if (!c.texts.empty()) files.add_input(c.texts);
  for (const auto& file : files_of_model(model)) files.add_input(file);
  for (const char* folder : {"audio", "transcripts", "done"})
    if (auto free = files.expect_no_input_in(c.out / folder); !free) return tl::unexpected(free.error());
  for (const char* list : {"metadata.csv", "refused.jsonl"})
    if (auto claimed = files.claim(c.out / list, "the corpus"); !claimed) return tl::unexpected(claimed.error());
  if (auto claimed = claim_trace(files, c.trace); !claimed) return tl::unexpected(claimed.error());
  return files;
}

/// Writes recordings into the corpus as they come, and reports them.
class Collection {
 public:
  explicit Collection(PreparedFolder& folder) : folder_(folder) {}

  Result<void> take(const fs::path& path, const Result<PreparedRecording>& prepared) {
    if (!prepared) {
      if (prepared.error().fault == Fault::cancelled) return tl::unexpected(prepared.error());
      complain(prepared.error(), kSomeFailed);
      folder_.refuse(path, prepared.error().text());
      ++failed_;
      is_short_of_some_ |= may_pass(prepared.error().fault);
      return {};
    }
    if (prepared->pieces.empty()) ++failed_;
    if (auto added = folder_.add(path, *prepared); !added) return added;
    report(path, *prepared);
    return {};
  }
  /// Recordings of which nothing was taken.
  std::size_t failed() const { return failed_; }
  /// Whether some of them may be prepared another time.
  bool is_short_of_some() const { return is_short_of_some_; }

 private:
  static void report(const fs::path& path, const PreparedRecording& prepared) {
    Seconds audio{};
    for (const auto& taken : prepared.pieces) audio += Seconds(taken.piece.end - taken.piece.start);
    std::fprintf(stderr, "%s: %zu samples, %s of %s; %zu texts refused\n", without_controls(path.string()).c_str(),
                 prepared.pieces.size(), length_text(audio).c_str(), length_text(prepared.recording.duration()).c_str(),
                 prepared.refused.size());
  }

  PreparedFolder& folder_;
  std::size_t failed_ = 0;
  bool is_short_of_some_ = false;
};

void say_totals(const PrepareCommand& command, std::size_t recordings, const PreparedFolder& folder, std::size_t failed,
                const std::optional<TuningResult>& tuned) {
  const auto& totals = folder.totals();
  if (command.json) {
    nlohmann::ordered_json summary{{"recordings", recordings},
                                   {"without_samples", failed},
                                   {"samples", totals.samples},
                                   {"seconds", totals.audio.count()},
                                   {"refused", totals.refused}};
    if (tuned) summary["tuning"] = tuning_json(*tuned);
    std::puts(summary.dump().c_str());
    return;
  }
  std::printf("%lld samples, %s of audio, in %s; %lld texts refused, see %s\n", static_cast<long long>(totals.samples),
              length_text(totals.audio).c_str(), command.out.c_str(), static_cast<long long>(totals.refused),
              (command.out / "refused.jsonl").c_str());
  if (const auto text = tuned ? tuning_sentence(*tuned) : std::string(); !text.empty()) std::puts(text.c_str());
}

/// What samples follow from, beside the recordings and their texts.
std::string settings_of(const PrepareCommand& c, const TranscribeOptions& options) {
  return joined(std::vector<std::string>{options.model.string(), options.compute_type, c.texts.string(),
                                         show_value(c.rules.window), show_value(c.rules.least_score),
                                         show_value(plain_language(c.language))},
                "\n") +
         "\n" + (c.audio.track ? "track " + show_value(c.audio.track) + "\n" : "") +
         (c.audio.channel ? "channel " + show_value(c.audio.channel) + "\n" : "");
}

/// The recordings that no earlier run has prepared.
std::vector<PrepareInput> left_of(const std::vector<PrepareInput>& inputs, PreparedFolder& folder) {
  std::vector<PrepareInput> left;
  for (const auto& input : inputs)
    if (!folder.has(input.path)) left.push_back(input);
  if (const auto before = inputs.size() - left.size(); before > 0)
    std::fprintf(stderr, "%zu of %zu recordings were prepared before\n", before, inputs.size());
  return left;
}

/// The stamps of inputs by their path. One that is not named any more has its text where it had it, if not in a table.
StampOf stamps_of(const PrepareCommand& command, const std::vector<PrepareInput>& inputs) {
  return [&](const std::string& path) {
    const auto named = std::ranges::find_if(inputs, [&](const PrepareInput& input) { return input.path == path; });
    return named == inputs.end() ? stamp_of_sources(path, command.texts) : stamp_of_sources(*named, command.texts);
  };
}

int prepare(const PrepareCommand& command, const std::vector<PrepareInput>& inputs, const TranscribeOptions& options,
            const OutputOwnership& files) {
  TuningPlan tuning;
  if (auto set = set_tuning(command.tuning, tuning); !set) return complain(set.error(), kUsage);
  Interrupt interrupt;
  auto folder = PreparedFolder::create(command.out, settings_of(command, options), stamps_of(command, inputs), files);
  if (!folder) return complain(folder.error());
  const auto left = left_of(inputs, *folder);
  const auto device = load_device(options, interrupt);
  if (!device) return complain(device.error(), interrupt);
  Collection collection(*folder);
  const auto taken = prepare_recordings(
      left, {.device = **device, .options = options, .rules = command.rules, .texts = command.texts, .tuning = tuning},
      interrupt,
      [&](const fs::path& path, const Result<PreparedRecording>& one) { return collection.take(path, one); });
  const bool broken = !taken && !interrupt.raised();
  if (broken) complain(taken.error(), kNothingRan);
  // Whatever ended it: hours of alignment are not lost with the last recording.
  const bool ended = !broken && !interrupt.raised() && !collection.is_short_of_some();
  if (auto finished = folder->finish(ended); !finished) return complain(finished.error(), kNothingRan);
  if (!ended) std::fputs("What is prepared is kept; the same command goes on with the rest\n", stderr);
  say_totals(command, inputs.size(), *folder, collection.failed(), taken ? taken->tuning : std::nullopt);
  if (interrupt.raised()) return kInterrupted;
  if (broken) return kNothingRan;
  const bool is_empty = folder->totals().samples == 0;
  return end_with_finding(taken->finding, is_empty ? kNothingRan : collection.failed() > 0 ? kSomeFailed : kDone);
}

}  // namespace

int run_prepare(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "classifier")
    return run_prepare_classifier({arguments.begin() + 1, arguments.end()});
  if (!arguments.empty() && arguments[0] == "tts") return run_prepare_tts({arguments.begin() + 1, arguments.end()});
  PrepareCommand command;
  OptionTable table = table_of(command);
  table.examples({"tutti prepare whisper --model tiny.en --out corpus talks/*.mp3",
                  "tutti prepare whisper --model small --language de --out corpus talks.csv"});
  if (const auto code = start_command(table, arguments)) return *code;
  if (auto checked = check(command); !checked) return complain(checked.error(), kUsage);
  const auto audio = audio_choice(command.audio);
  if (!audio) return complain(audio.error(), kUsage);
  command.rules.audio = *audio;
  const auto model = find_named_model(command.model);
  if (!model) return complain(model.error());
  const auto inputs = prepare_inputs({command.words.begin() + 1, command.words.end()});
  if (!inputs) return complain(inputs.error());
  const auto files = claim_corpus(command, *inputs, *model);
  if (!files) return complain(files.error());
  CommandTrace trace;
  if (const auto begun = trace.begin(command.trace, *files, command_line("tutti prepare", arguments)); !begun)
    return complain(begun.error());
  return prepare(command, *inputs, options_of(command, *model, inputs->size()), *files);
}

}  // namespace tutti
