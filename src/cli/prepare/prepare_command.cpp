#include <cstdio>
#include <vector>

#include "base/json.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "base/try.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "cli/commands.h"
#include "cli/flags.h"
#include "cli/interrupt.h"
#include "cli/named_model.h"
#include "cli/prepare/build_progress.h"
#include "prepare/corpus.h"
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
  if (const auto language = plain_language(c.language)) TRY(language_code_of(*language));
  return check_machine({c.device, c.threads, c.files_at_once});
}

CorpusRequest request_of(const PrepareCommand& c, const fs::path& model, std::size_t recordings) {
  CorpusRequest request{.out = c.out,
                        .texts = c.texts,
                        .language = plain_language(c.language),
                        .rules = c.rules,
                        .options = corpus_options(recordings)};
  request.options.model = model;
  request.options.device = c.device;
  request.options.compute_type = c.compute_type;
  request.options.threads = c.threads;
  request.options.files_at_once = c.files_at_once;
  if (request.language) request.options.long_form.language = language_code_of(*request.language).value();
  return request;
}

void say_recording(const fs::path& path, const PreparedRecording& prepared) {
  Seconds audio{};
  for (const auto& taken : prepared.pieces) audio += Seconds(taken.piece.end - taken.piece.start);
  std::fprintf(stderr, "%s: %zu samples, %s of %s; %zu texts refused\n", without_controls(path.string()).c_str(),
               prepared.pieces.size(), length_text(audio).c_str(), length_text(prepared.recording.duration()).c_str(),
               prepared.refused.size());
}

void say_totals(const PrepareCommand& command, std::size_t recordings, const CorpusEnd& end) {
  const auto& totals = end.totals;
  if (command.json) {
    nlohmann::ordered_json summary{{"recordings", recordings},
                                   {"without_samples", end.failed},
                                   {"samples", totals.samples},
                                   {"seconds", totals.audio.count()},
                                   {"refused", totals.refused}};
    if (end.tuning) summary["tuning"] = tuning_json(*end.tuning);
    std::puts(summary.dump().c_str());
    return;
  }
  std::printf("%lld samples, %s of audio, in %s; %lld texts refused, see %s\n", static_cast<long long>(totals.samples),
              length_text(totals.audio).c_str(), command.out.c_str(), static_cast<long long>(totals.refused),
              (command.out / "refused.jsonl").c_str());
  if (const auto text = end.tuning ? tuning_sentence(*end.tuning) : std::string(); !text.empty())
    std::puts(text.c_str());
}

int prepare(const PrepareCommand& command, const std::vector<PrepareInput>& inputs, CorpusRequest request,
            const OutputOwnership& files) {
  request.tuning = TuningPlan();
  if (auto set = set_tuning(command.tuning, request.tuning); !set) return complain(set.error(), kUsage);
  Interrupt interrupt;
  const CorpusEvents events{.on_start =
                                [](std::size_t before, std::size_t all) {
                                  if (before > 0)
                                    std::fprintf(stderr, "%zu of %zu recordings were prepared before\n", before, all);
                                },
                            .on_recording = say_recording,
                            .on_failed = [](const Error& error) { complain(error, kSomeFailed); }};
  const auto end = prepare_corpus(request, inputs, files, interrupt, events);
  if (!end) return complain(end.error(), interrupt);
  if (end->error) complain(*end->error, kNothingRan);
  if (end->not_written) return complain(*end->not_written, kNothingRan);
  if (!end->is_whole) std::fputs("What is prepared is kept; the same command goes on with the rest\n", stderr);
  say_totals(command, inputs.size(), *end);
  if (interrupt.raised()) return kInterrupted;
  if (end->error) return kNothingRan;
  const bool is_empty = end->totals.samples == 0;
  return end_with_finding(end->finding, is_empty ? kNothingRan : end->failed > 0 ? kSomeFailed : kDone);
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
  const std::vector<std::string> named(command.words.begin() + 1, command.words.end());
  const auto inputs = prepare_inputs(named);
  if (!inputs) return complain(inputs.error());
  const CorpusRequest request = request_of(command, *model, inputs->size());
  auto files = claim_corpus(request, named, *inputs);
  if (!files) return complain(files.error());
  if (auto claimed = claim_trace(*files, command.trace); !claimed) return complain(claimed.error());
  CommandTrace trace;
  if (const auto begun = trace.begin(command.trace, *files, command_line("tutti prepare", arguments)); !begun)
    return complain(begun.error());
  return prepare(command, *inputs, request, *files);
}

}  // namespace tutti
