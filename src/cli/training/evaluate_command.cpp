#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/output_ownership.h"
#include "base/process/exit_code.h"
#include "base/strings.h"
#include "cli/command_start.h"
#include "cli/command_trace.h"
#include "cli/commands.h"
#include "cli/engine_process/engine_run.h"
#include "cli/flags.h"
#include "cli/named_model.h"
#include "hub/files_of_model.h"
#include "hub/find.h"

namespace tutti {
namespace {

struct EvaluateCommand {
  std::string model{};
  std::filesystem::path data{};
  std::string split{};
  std::string normaliser = "basic";
  std::string language = "en";
  std::string task = "transcribe";
  std::string device = "auto";
  std::string compute_type = "float32";
  std::int32_t samples = 0;
  std::int32_t threads = 0;
  std::filesystem::path report{};
  std::filesystem::path audio{};
  std::string speaker{};
  bool json = false;
  std::filesystem::path trace{};
  std::string line{};  // as typed
};

void add_evaluate(OptionTable& table, EvaluateCommand& c) {
  table.add("model", c.model, "DIR|NAME", "as for 'tutti transcribe'");
  table.add("data", c.data, "DIR", "recordings with texts, in any layout that 'tutti train' reads");
  table.add("split", c.split, "NAME",
            "the split of layouts that have some: train, validation, test; without it: everything");
  table.add("normaliser", c.normaliser, "NAME", "what texts pass through before errors are counted").choices = {
      "none", "basic", "english"};
  table.add("language", c.language, "LANGUAGE",
            "language of the recordings, for a multilingual model: a code, a tag or a name");
  table.add("task", c.task, "TASK", "likewise").choices = {"transcribe", "translate"};
  table.add("device", c.device, "auto|cpu|cuda:N", "where the network is; auto: the first GPU, else the processor");
  table.add("compute-type", c.compute_type, "TYPE",
            "float32 is the most exact; others as for 'tutti transcribe', auto: the fastest that passes a self-test");
  table.add("samples", c.samples, "N", "at most; 0: all");
  table.add("threads", c.threads, "N", "threads of the network and the feed; 0: one per core");
  table.add(
      "report", c.report, "FILE.html",
      "rates by condition, the worst samples, characters taken for others; of a classifier curves, calibration, groups "
      "and the worst files; of a voice spectrograms and players (FILE.svg: spectrograms alone); replaces an earlier "
      "report only");
  table.add("audio", c.audio, "DIR",
            "for a classifier: the folder that the set was made of, so that the report can play the worst files; a set "
            "with waveforms (tutti prepare classifier --waveforms) needs none");
  table.add("speaker", c.speaker, "NAME",
            "for a voice: its speaker, for every clip; without it, the one of each clip's own name");
  table.add_switch("json", c.json, "one JSON object on standard output; rates as fractions");
  add_trace(table, c.trace);
}

Result<void> check(const EvaluateCommand& c) {
  if (c.model.empty() || c.data.empty())
    return fail(Fault::usage, "evaluate needs a model and data", "Name them with --model DIR and --data DIR");
  if (c.samples < 0)
    return fail(Fault::usage, "--samples: expected a whole number, not negative; found " + std::to_string(c.samples));
  return check_thread_count("--threads", c.threads);
}

/// Checks that the report would not be written onto the model or the set. No layout of a set reads HTML: a report in
/// the set's folder is replaced by the next.
Result<void> expect_own_report(const EvaluateCommand& c, const std::filesystem::path& model) {
  OutputOwnership files("Name another file with --report");
  for (const auto& file : files_of_model(model)) files.add_input(file);
  if (resolved_path(c.report).extension() != ".html") files.add_input(c.data);
  return c.report.empty() ? Result<void>() : files.claim_marked(c.report, "--report", kEvaluationMark);
}

/// Has the engine evaluate the model at `model`.
int run_evaluation(const EvaluateCommand& c, const std::filesystem::path& model, const std::vector<std::string>& line) {
  std::vector<std::filesystem::path> others = files_of_model(model);
  others.insert(others.end(), {c.data, c.audio, c.report});
  CommandTrace trace;
  if (const auto begun = trace.begin_beside(others, c.trace, c.line); !begun) return complain(begun.error());
  return run_engine(line, "it evaluated " + model.string());
}

/// Whether the model is of this type: "tutti-classifier", of 'tutti train classifier', or "tutti-voice".
bool is_of_type(const std::filesystem::path& model, const std::string& type) {
  const auto config = read_regular_file(model / "config.json");
  return config && config->find("\"" + type + "\"") != std::string::npos;
}

/// Evaluates a classifier or a voice on a part of its set; the last of `parts` is the usual one. `more`: further words
/// for the engine.
int evaluate_on_set(const EvaluateCommand& c, const char* engine_command, const std::vector<std::string>& parts,
                    const std::vector<std::string>& more) {
  if (const auto own = expect_own_report(c, c.model); !own) return complain(own.error());
  const auto& part = c.split.empty() ? parts.back() : c.split;
  if (std::ranges::find(parts, part) == parts.end())
    return complain({Fault::usage, "--split: expected " + joined(std::span(parts).first(parts.size() - 1), ", ") +
                                       " or " + parts.back() + ", found '" + c.split + "'"},
                    kUsage);
  std::vector<std::string> line{engine_command, "--model",  c.model,  "--data",    c.data.string(),          "--split",
                                part,           "--device", c.device, "--threads", std::to_string(c.threads)};
  line.insert(line.end(), more.begin(), more.end());
  if (!c.report.empty()) line.insert(line.end(), {"--report", c.report.string()});
  if (c.json) line.emplace_back("--json");
  return run_evaluation(c, c.model, line);
}

int evaluate_classifier(const EvaluateCommand& c) {
  if (!c.audio.empty() && (c.report.empty() || !std::filesystem::is_directory(c.audio)))
    return complain({Fault::usage, c.report.empty() ? "--audio: it is for the players of a --report"
                                                    : "--audio: " + c.audio.string() + " is no folder"},
                    kUsage);
  std::vector<std::string> more;
  if (!c.audio.empty()) more = {"--audio", c.audio.string()};
  return evaluate_on_set(c, "evaluate-classifier", {"train", "validation", "test"}, more);
}

int evaluate_voice(const EvaluateCommand& c) {
  return evaluate_on_set(c, "evaluate-voice", {"train", "validation"},
                         {"--samples", std::to_string(c.samples), "--speaker", c.speaker});
}

/// Checks that no flag is given that has no effect on a model of this kind.
Result<void> expect_flags_of(OptionTable& table, const EvaluateCommand& c, const char* kind,
                             std::initializer_list<const char*> without_effect) {
  return expect_not_typed(table, without_effect,
                          ": " + c.model + " is a " + kind + ", and its evaluation has no such setting");
}

/// The same, by what the folder holds.
Result<void> expect_flags_of_model(OptionTable& table, const EvaluateCommand& c) {
  if (is_of_type(c.model, "tutti-classifier"))
    return expect_flags_of(table, c, "classifier",
                           {"normaliser", "language", "task", "compute-type", "samples", "speaker"});
  if (is_of_type(c.model, "tutti-voice"))
    return expect_flags_of(table, c, "voice", {"normaliser", "language", "task", "compute-type", "audio"});
  return expect_flags_of(table, c, "Whisper model", {"audio", "speaker"});
}

}  // namespace

int run_evaluate(const std::vector<std::string>& arguments) {
  EvaluateCommand c;
  OptionTable table(
      "evaluate",
      "Have a model write down a set of recordings, and count its errors; or a classifier name the files of a set "
      "that 'tutti prepare classifier' made (--split: of it, by default test); or a voice speak the texts of a set "
      "that 'tutti prepare tts' made (by default validation), and compare its speech with the recordings.");
  add_evaluate(table, c);
  table.examples({"tutti evaluate --model trained/model --data corpus --split test",
                  "tutti evaluate --model voice/model --data set --report voice.html"});
  if (const auto code = start_command(table, arguments)) return *code;
  c.line = command_line("tutti evaluate", arguments);
  if (auto checked = check(c); !checked) return complain(checked.error(), kUsage);
  if (const auto file = expect_output_file("--report", c.report); !file) return complain(file.error());
  if (auto flags = expect_flags_of_model(table, c); !flags) return complain(flags.error(), kUsage);
  if (is_of_type(c.model, "tutti-classifier")) return evaluate_classifier(c);
  if (is_of_type(c.model, "tutti-voice")) return evaluate_voice(c);
  const auto language = language_code_of(c.language);
  if (!language) return complain(language.error(), kUsage);
  const auto model = find_named_model(c.model);
  if (!model) return complain(model.error());
  if (const auto own = expect_own_report(c, *model); !own) return complain(own.error());
  std::vector<std::string> line{"evaluate",     "--model",    model->string(), "--data",         c.data.string(),
                                "--normaliser", c.normaliser, "--language",    *language,        "--task",
                                c.task,         "--device",   c.device,        "--compute-type", c.compute_type};
  line.insert(line.end(), {"--samples", std::to_string(c.samples), "--threads", std::to_string(c.threads)});
  if (!c.split.empty()) line.insert(line.end(), {"--split", c.split});
  if (!c.report.empty()) line.insert(line.end(), {"--report", c.report.string()});
  if (c.json) line.emplace_back("--json");
  return run_evaluation(c, *model, line);
}

}  // namespace tutti
