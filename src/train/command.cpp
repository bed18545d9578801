#include "train/command.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/process/line_reader.h"
#include "base/process/process_setup.h"
#include "base/strings.h"
#include "model/gpu.h"
#include "model/gpu/out_of_memory.h"
#include "recipe/recipe_file.h"
#include "train/classifier/answer_writer.h"
#include "train/classifier/classify.h"
#include "train/classifier/set_evaluation.h"
#include "train/peers/peers.h"
#include "train/plan/training_plan.h"
#include "train/trainings.h"
#include "train/tts/say.h"
#include "train/tts/voice_evaluation.h"

namespace tutti {
namespace {

/// "--name value" pairs and switches.
class Line {
 public:
  static Result<Line> read(std::span<char*> arguments, const std::set<std::string>& valued,
                           const std::set<std::string>& switches) {
    Line line;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string name = arguments[i];
      if (switches.contains(name)) {
        line.values_[name] = "true";
      } else if (valued.contains(name) && i + 1 < arguments.size()) {
        line.values_[name] = arguments[++i];
      } else {
        return fail(Fault::usage, "'" + name + "' is not understood; tutti writes this command line by itself");
      }
    }
    return line;
  }
  bool has(const std::string& name) const { return values_.contains(name); }
  std::string value(const std::string& name) const { return has(name) ? values_.at(name) : std::string(); }

 private:
  std::map<std::string, std::string> values_{};
};

/// The device that a recipe names, as this process sees it; "auto": the first GPU, else the processor.
Result<std::string> settled_device(const std::string& name) {
  if (name == "auto") return settled_device(gpu::count() > 0 ? "cuda" : "cpu");
  return device_of_process(name, name == "cuda" ? gpu::count() : 0);
}

/// What every `train KIND` takes.
struct TrainLine {
  Line line;
  std::string settings{};
};

Result<TrainLine> train_line(std::span<char*> arguments) {
  auto line = Line::read(arguments, {"--config", "--model", "--out", "--device"}, {"--resume"});
  if (!line) return tl::unexpected<Error>(line.error());
  auto text = read_file(line->value("--config"));
  if (!text) return tl::unexpected<Error>(text.error());
  return TrainLine{std::move(*line), std::move(*text)};
}

/// The recipe that `read` makes of the line's settings, on a device of this process.
template <class Read>
auto recipe_of(const TrainLine& given, Read read) -> decltype(read()) {
  auto recipe = read();
  if (!recipe) return recipe;
  if (given.line.has("--device")) recipe->device = given.line.value("--device");
  const auto device = settled_device(recipe->device);
  if (!device) return tl::unexpected<Error>(device.error());
  recipe->device = *device;
  return recipe;
}

Result<TrainingEnd> run_whisper_training(const TrainLine& given) {
  auto recipe = recipe_of(given, [&] { return read_recipe(given.settings, given.line.value("--config")); });
  if (!recipe) return tl::unexpected<Error>(recipe.error());
  return train_whisper({.recipe = std::move(*recipe),
                        .model = given.line.value("--model"),
                        .out = given.line.value("--out"),
                        .resume = given.line.has("--resume"),
                        .settings = given.settings});
}

/// A training that `run` does by the recipe that `read` makes of the settings.
template <class Recipe, auto read, auto run>
Result<TrainingEnd> run_recipe_training(const TrainLine& given) {
  auto recipe = recipe_of(given, [&] { return read(given.settings, given.line.value("--config"), Recipe()); });
  if (!recipe) return tl::unexpected<Error>(recipe.error());
  return run({.recipe = std::move(*recipe),
              .out = given.line.value("--out"),
              .resume = given.line.has("--resume"),
              .settings = given.settings});
}

/// The trainings that there are; cli/training/train_command.cpp has the other half of each.
constexpr std::pair<std::string_view, Result<TrainingEnd> (*)(const TrainLine&)> kTrainings[] = {
    {kWhisperTraining, run_whisper_training},
    {kClassifierTraining, run_recipe_training<ClassifierRecipe, read_classifier_recipe, train_classifier>},
    {kTtsTraining, run_recipe_training<TtsRecipe, read_tts_recipe, train_tts>},
    {kVocoderTraining, run_recipe_training<VocoderRecipe, read_vocoder_recipe, train_vocoder>}};

Result<TrainingEnd> run_named_training(std::span<char*> arguments) {
  const std::string_view name = arguments.empty() ? "" : arguments[0];
  const auto found = std::ranges::find(kTrainings, name, [](const auto& training) { return training.first; });
  if (found == std::end(kTrainings)) return fail(Fault::usage, "train: no training '" + std::string(name) + "'");
  const auto given = train_line(arguments.subspan(1));
  if (!given) return tl::unexpected<Error>(given.error());
  return found->second(*given);
}

Result<EvaluationRequest> evaluation_of(std::span<char*> arguments) {
  const auto line = Line::read(arguments,
                               {"--model", "--data", "--split", "--normaliser", "--language", "--task", "--device",
                                "--compute-type", "--samples", "--threads", "--report"},
                               {"--json"});
  if (!line) return tl::unexpected<Error>(line.error());
  EvaluationRequest request{.model = line->value("--model"), .data = line->value("--data")};
  request.split = line->value("--split");
  request.report = line->value("--report");
  request.json = line->has("--json");
  if (line->has("--normaliser")) request.normaliser = line->value("--normaliser");
  if (line->has("--language")) request.language = line->value("--language");
  if (line->has("--task")) request.task = line->value("--task");
  const auto device = settled_device(line->has("--device") ? line->value("--device") : request.device);
  if (!device) return tl::unexpected<Error>(device.error());
  request.device = *device;
  if (line->has("--compute-type")) request.compute_type = line->value("--compute-type");
  if (line->has("--samples")) request.samples = std::stoi(line->value("--samples"));
  if (line->has("--threads")) request.threads = std::stoi(line->value("--threads"));
  return request;
}

int complain(const Error& error) {
  log(Level::error, error.text());
  return error.fault == Fault::usage ? kUsage : kNothingRan;
}

/// The exit code of a command whose results are printed.
int end_of_output() {
  const auto flushed = flush_standard_output();
  if (!flushed) complain(flushed.error());
  return flushed ? kDone : kSomeFailed;
}

/// A thread needs memory, too; the system's error for one that it does not start names neither of the two reasons.
bool is_out_of_threads(const std::exception& problem) {
  const auto* refused = dynamic_cast<const std::system_error*>(&problem);
  return refused && refused->code() == std::errc::resource_unavailable_try_again;
}

/// Runs one command. Only here can memory run out for good, or a broken promise of ours end. `failed`: what that ends;
/// `smaller`: what takes less.
template <class Work>
int guarded(const char* failed, const char* smaller, Work work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    return work();
  } catch (const std::exception& problem) {
    if (is_out_of_memory(problem)) return complain(failure_of(problem, failed, smaller));
    if (is_out_of_threads(problem))
      return complain({Fault::exhausted, "no thread could be started: memory ran out, or the user's number of threads",
                       "Take fewer threads, or raise this process's limits (memory: ulimit -v; threads: ulimit -u)"});
    return complain({.fault = Fault::internal, .what = problem.what()});
  }
}

AnswerFormat answer_format(const Line& line) {
  return line.has("--json") ? AnswerFormat::json : line.has("--csv") ? AnswerFormat::csv : AnswerFormat::text;
}

/// Behind the command's own output: what limited the run, or its recording for `tutti profile`.
int conclude(const SerialRun& phases, const char* command, const char* unit, int ended) {
  const auto finding = phases.conclude(command, unit);
  if (!finding) return complain(finding.error());
  if (!finding->empty()) std::fprintf(stderr, "%s\n", finding->c_str());
  return ended;
}

/// Classifies and prints; every answer is out before the next file. A copy that fails ends the copying alone.
int print_answers(const ClassifyRequest& request, AnswerFormat format, SortedCopies* copies) {
  AnswerWriter writer(format);
  std::int64_t not_copied = 0;
  SerialRun phases;
  const auto take = [&](const auto& labels, const ClassifiedFile& answer) {
    std::fputs(writer.lines(labels, answer).c_str(), stdout);
    std::fflush(stdout);
    const auto copied = copies ? copies->add(labels, answer) : Result<void>();
    if (!copied) log(Level::error, "not copied: " + copied.error().text());
    not_copied += !copied;
  };
  const auto failed = classify_files(request, take, &phases);
  if (!failed) return complain(failed.error());
  if (copies)
    log(Level::info, std::to_string(copies->copied()) + " files copied, " + std::to_string(copies->present()) +
                         " were there already");
  const int ended = conclude(phases, "classify", "batches", end_of_output());
  return ended == kDone && *failed + not_copied > 0 ? static_cast<int>(kSomeFailed) : ended;
}

/// oneDNN keeps what it has compiled for the last 1024 shapes of its operands, by default. A Whisper model's take some
/// 2 MB each. Batches come in ever new lengths, so in training that grows to gigabytes that are hardly ever used again;
/// a step needs about a dozen. A voice's take 50 kB each. Its step needs 80, and the batches of an epoch have some
/// thirty shapes that come again in the next one.
void limit_kept_kernels(std::string_view training) {
  const char* capacity = training == kTtsTraining ? "4096" : "64";
  ::setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", capacity, /*overwrite=*/0);
}

}  // namespace

int train_command(std::span<char*> arguments) {
  const std::string_view training = arguments.empty() ? "" : arguments.front();
  limit_kept_kernels(training);
  const char* smaller =
      training == kWhisperTraining
          ? "Take a smaller model or window, or the same with gradient-checkpointing or freeze-encoder"
          : "Take a smaller batch-size or network";
  return guarded("the training cannot go on", smaller, [&] {
    const auto end = run_named_training(arguments);
    if (!end) return complain(end.error());
    return *end == TrainingEnd::interrupted ? kInterrupted : 0;
  });
}

int classify_command(std::span<char*> arguments) {
  constexpr const char* kSmaller = "Classify fewer files at once, or shorter ones";
  return guarded("the files cannot be classified", kSmaller, [&] {
    const auto line = Line::read(
        arguments, {"--model", "--files", "--standard-input", "--device", "--threads", "--copy-to", "--min-score"},
        {"--json", "--csv", "--over-time", "--follow", "--nul-ends"});
    if (!line) return complain(line.error());
    const auto names = read_file(line->value("--files"));
    if (!names) return complain(names.error());
    const auto device = settled_device(line->value("--device"));
    if (!device) return complain(device.error());
    ClassifyRequest request{.model = line->value("--model"), .device = *device, .over_time = line->has("--over-time")};
    request.standard_input = line->value("--standard-input");
    LineReader more(STDIN_FILENO, *names, line->has("--nul-ends") ? '\0' : '\n');
    if (line->has("--follow"))
      request.more = [&more] { return more.next(); };
    else
      for (const auto name : split(*names, '\0')) request.files.emplace_back(name);
    if (line->has("--threads")) request.threads = std::stoi(line->value("--threads"));
    std::optional<SortedCopies> copies;
    if (line->has("--copy-to")) copies.emplace(line->value("--copy-to"), std::stod(line->value("--min-score")));
    return print_answers(request, answer_format(*line), copies ? &*copies : nullptr);
  });
}

int say_command(std::span<char*> arguments) {
  return guarded("the text cannot be spoken", "Say it in parts", [&] {
    const auto line = Line::read(arguments,
                                 {"--voice", "--text", "--out", "--times", "--speaker", "--rate", "--seed", "--steps",
                                  "--temperature", "--pauses", "--vocoder", "--device", "--threads"},
                                 {"--stream"});
    if (!line) return complain(line.error());
    auto text = read_file(line->value("--text"));
    if (!text) return complain(text.error());
    const auto device = settled_device(line->value("--device"));
    if (!device) return complain(device.error());
    const auto report = say({.voice = line->value("--voice"),
                             .text = std::move(*text),
                             .out = line->value("--out"),
                             .times = line->value("--times"),
                             .speaker = line->value("--speaker"),
                             .rate = std::stod(line->value("--rate")),
                             .seed = std::stoull(line->value("--seed")),
                             .steps = std::stoi(line->value("--steps")),
                             .temperature = std::stod(line->value("--temperature")),
                             .pauses = std::stod(line->value("--pauses")),
                             .vocoder = line->value("--vocoder"),
                             .device = *device,
                             .threads = std::stoi(line->value("--threads")),
                             .streams = line->has("--stream")});
    if (!report) return complain(report.error());
    log(Level::info, *report);
    return static_cast<int>(kDone);
  });
}

int evaluate_classifier_command(std::span<char*> arguments) {
  return guarded("the evaluation cannot go on", "Take fewer threads", [&] {
    const auto line = Line::read(
        arguments, {"--model", "--data", "--split", "--device", "--threads", "--report", "--audio"}, {"--json"});
    if (!line) return complain(line.error());
    const auto device = settled_device(line->value("--device"));
    if (!device) return complain(device.error());
    const auto split = line->value("--split");
    SerialRun phases;
    const SetEvaluationRequest request{.model = line->value("--model"),
                                       .data = line->value("--data"),
                                       .part = split == "train"        ? SetPart::training
                                               : split == "validation" ? SetPart::validation
                                                                       : SetPart::testing,
                                       .device = *device,
                                       .threads = std::stoi(line->value("--threads")),
                                       .json = line->has("--json"),
                                       .report = line->value("--report"),
                                       .audio = line->value("--audio")};
    const auto text = evaluate_classifier(request, &phases);
    if (!text) return complain(text.error());
    std::fputs(text->c_str(), stdout);
    return conclude(phases, "evaluate", "sets", end_of_output());
  });
}

int evaluate_voice_command(std::span<char*> arguments) {
  return guarded("the evaluation cannot go on", "Take fewer threads", [&] {
    const auto line = Line::read(
        arguments, {"--model", "--data", "--split", "--samples", "--device", "--threads", "--report", "--speaker"},
        {"--json"});
    if (!line) return complain(line.error());
    const auto device = settled_device(line->value("--device"));
    if (!device) return complain(device.error());
    const VoiceEvaluationRequest wanted{
        .model = line->value("--model"),
        .data = line->value("--data"),
        .part = line->value("--split") == "train" ? VoicePart::training : VoicePart::validation,
        .samples = std::stoll(line->value("--samples")),
        .device = *device,
        .threads = std::stoi(line->value("--threads")),
        .speaker = line->value("--speaker"),
        .report = line->value("--report")};
    SerialRun phases;
    const auto measures = phases.measure("the network", [&] { return evaluate_voice(wanted); });
    if (!measures) return complain(measures.error());
    std::puts((line->has("--json") ? measures_json(*measures) : measures_text(*measures)).c_str());
    return conclude(phases, "evaluate", "sets", end_of_output());
  });
}

int plan_training_command(std::span<char*> arguments) {
  return guarded("the training cannot be planned", "Plan where memory is free", [&] {
    const auto line = Line::read(arguments, {"--train", "--gpus", "--data", "--model"}, {"--json"});
    if (!line) return complain(line.error());
    TrainingPlanRequest request{
        .data = line->value("--data"), .model = line->value("--model"), .json = line->has("--json")};
    for (const auto& gpu : nlohmann::ordered_json::parse(line->value("--gpus")))  // [NAME, BYTES]
      request.gpus.push_back({gpu.at(0), Bytes{gpu.at(1)}});
    const auto text = plan_training(line->value("--train"), request);
    if (!text) return complain(text.error());
    std::fputs(text->c_str(), stdout);
    return end_of_output();
  });
}

int evaluate_command(std::span<char*> arguments, const ChooseComputeType& choose) {
  constexpr const char* kSmaller = "Take a smaller model, a smaller compute-type, or another device";
  return guarded("the evaluation cannot go on", kSmaller, [&] {
    const auto request = evaluation_of(arguments);
    if (!request) return complain(request.error());
    if (const auto done = evaluate_model(*request, choose); !done) return complain(done.error());
    return end_of_output();
  });
}

}  // namespace tutti
