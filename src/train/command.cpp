#include "train/command.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
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
#include "base/try.h"
#include "device/machine.h"
#include "model/cpu/compute_team.h"
#include "model/gpu.h"
#include "model/gpu/out_of_memory.h"
#include "recipe/recipe_file.h"
#include "settings/option_table.h"
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

/// The device that a recipe names, as this process sees it; "auto": the first GPU, else the processor.
Result<std::string> settled_device(const std::string& name) {
  if (name == "auto") return settled_device(gpu::count() > 0 ? "cuda" : "cpu");
  return device_of_process(name, name == "cuda" ? gpu::count() : 0);
}

/// What every `train KIND` takes.
struct TrainLine {
  std::string config{};
  std::string settings{};  // what that file holds
  std::filesystem::path model{};
  std::filesystem::path out{};
  std::string device{};  // empty: the recipe's
  bool resume = false;
};

Result<TrainLine> train_line(std::span<char*> arguments) {
  TrainLine line;
  OptionTable table("tutti-engine train", "");
  table.add("config", line.config);
  table.add("model", line.model);
  table.add("out", line.out);
  table.add("device", line.device);
  table.add("resume", line.resume);
  TRY(table.read_line_of_program(arguments));
  line.settings = TRY(read_file(line.config));
  return line;
}

/// A training that `run` does by the recipe of the line's settings, on a device of this process.
template <class Recipe, auto run>
Result<TrainingEnd> run_training_of(const TrainLine& given) {
  auto recipe = TRY(read_recipe<Recipe>(given.settings, given.config));
  auto& device = recipe.arithmetic.device;
  device = TRY(settled_device(given.device.empty() ? device : given.device));
  set_compute_threads(recipe.arithmetic.compute_threads, read_cpu().cores);
  return run({.recipe = std::move(recipe),
              .model = given.model,
              .out = given.out,
              .resume = given.resume,
              .settings = given.settings});
}

/// The trainings that there are; cli/training/train_command.cpp has the other half of each.
constexpr std::pair<std::string_view, Result<TrainingEnd> (*)(const TrainLine&)> kTrainings[] = {
    {kWhisperTraining, run_training_of<WhisperRecipe, train_whisper>},
    {kClassifierTraining, run_training_of<ClassifierRecipe, train_classifier>},
    {kTtsTraining, run_training_of<TtsRecipe, train_tts>},
    {kVocoderTraining, run_training_of<VocoderRecipe, train_vocoder>}};

Result<TrainingEnd> run_named_training(std::span<char*> arguments) {
  const std::string_view name = arguments.empty() ? "" : arguments[0];
  const auto found = std::ranges::find(kTrainings, name, [](const auto& training) { return training.first; });
  if (found == std::end(kTrainings)) return fail(Fault::usage, "train: no training '" + std::string(name) + "'");
  const auto given = TRY(train_line(arguments.subspan(1)));
  return found->second(given);
}

Result<EvaluationRequest> evaluation_of(std::span<char*> arguments) {
  EvaluationRequest request;
  OptionTable table("tutti-engine evaluate", "");
  table.add("model", request.model);
  table.add("data", request.data);
  table.add("split", request.split);
  table.add("normaliser", request.normaliser);
  table.add("language", request.language);
  table.add("task", request.task);
  table.add("device", request.device);
  table.add("compute-type", request.compute_type);
  table.add("samples", request.samples);
  table.add("threads", request.threads);
  table.add("report", request.report);
  table.add("json", request.json);
  TRY(table.read_line_of_program(arguments));
  request.device = TRY(settled_device(request.device));
  return request;
}

/// What `classify` takes beside the request itself.
struct ClassifyLine {
  ClassifyRequest request{};
  std::string names{};  // what the file of names holds
  std::filesystem::path copy_to{};
  double min_score = 0;
  bool json = false;
  bool csv = false;
  bool follows = false;
  bool nul_ends = false;
};

Result<void> read_classify_line(std::span<char*> arguments, ClassifyLine& line) {
  ClassifyRequest& request = line.request;
  std::filesystem::path files;
  OptionTable table("tutti-engine classify", "");
  table.add("model", request.model);
  table.add("files", files);
  table.add("standard-input", request.standard_input);
  table.add("device", request.device);
  table.add("threads", request.threads);
  table.add("over-time", request.over_time);
  table.add("copy-to", line.copy_to);
  table.add("min-score", line.min_score);
  table.add("json", line.json);
  table.add("csv", line.csv);
  table.add("follow", line.follows);
  table.add("nul-ends", line.nul_ends);
  TRY(table.read_line_of_program(arguments));
  line.names = TRY(read_file(files));
  request.device = TRY(settled_device(request.device));
  return {};
}

Result<SayRequest> speech_of(std::span<char*> arguments) {
  SayRequest request;
  std::filesystem::path text;
  OptionTable table("tutti-engine say", "");
  table.add("voice", request.voice);
  table.add("text", text);
  table.add("out", request.out);
  table.add("times", request.times);
  table.add("speaker", request.speaker);
  table.add("rate", request.rate);
  table.add("seed", request.seed);
  table.add("steps", request.steps);
  table.add("temperature", request.temperature);
  table.add("pauses", request.pauses);
  table.add("pitch-range", request.pitch_range);
  table.add("vocoder", request.vocoder);
  table.add("device", request.device);
  table.add("threads", request.threads);
  table.add("stream", request.streams);
  TRY(table.read_line_of_program(arguments));
  request.text = TRY(read_file(text));
  request.device = TRY(settled_device(request.device));
  return request;
}

Result<SetEvaluationRequest> set_evaluation_of(std::span<char*> arguments) {
  SetEvaluationRequest request;
  std::string split;
  OptionTable table("tutti-engine evaluate-classifier", "");
  table.add("model", request.model);
  table.add("data", request.data);
  table.add("split", split);
  table.add("device", request.device);
  table.add("threads", request.threads);
  table.add("report", request.report);
  table.add("audio", request.audio);
  table.add("json", request.json);
  TRY(table.read_line_of_program(arguments));
  request.part = split == "train" ? SetPart::training : split == "validation" ? SetPart::validation : SetPart::testing;
  request.device = TRY(settled_device(request.device));
  return request;
}

Result<VoiceEvaluationRequest> voice_evaluation_of(std::span<char*> arguments, bool& json) {
  VoiceEvaluationRequest request;
  std::string split;
  OptionTable table("tutti-engine evaluate-voice", "");
  table.add("model", request.model);
  table.add("data", request.data);
  table.add("split", split);
  table.add("samples", request.samples);
  table.add("device", request.device);
  table.add("threads", request.threads);
  table.add("speaker", request.speaker);
  table.add("report", request.report);
  table.add("json", json);
  TRY(table.read_line_of_program(arguments));
  request.part = split == "train" ? VoicePart::training : VoicePart::validation;
  request.device = TRY(settled_device(request.device));
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
    ClassifyLine line;
    if (const auto read = read_classify_line(arguments, line); !read) return complain(read.error());
    ClassifyRequest& request = line.request;
    LineReader more(STDIN_FILENO, line.names, line.nul_ends ? '\0' : '\n');
    if (line.follows)
      request.more = [&more] { return more.next(); };
    else
      for (const auto name : split(line.names, '\0')) request.files.emplace_back(name);
    std::optional<SortedCopies> copies;
    if (!line.copy_to.empty()) copies.emplace(line.copy_to, line.min_score);
    const auto format = line.json ? AnswerFormat::json : line.csv ? AnswerFormat::csv : AnswerFormat::text;
    return print_answers(request, format, copies ? &*copies : nullptr);
  });
}

int say_command(std::span<char*> arguments) {
  return guarded("the text cannot be spoken", "Say it in parts", [&] {
    const auto request = speech_of(arguments);
    if (!request) return complain(request.error());
    const auto report = say(*request);
    if (!report) return complain(report.error());
    log(Level::info, *report);
    return static_cast<int>(kDone);
  });
}

int evaluate_classifier_command(std::span<char*> arguments) {
  return guarded("the evaluation cannot go on", "Take fewer threads", [&] {
    const auto request = set_evaluation_of(arguments);
    if (!request) return complain(request.error());
    SerialRun phases;
    const auto text = evaluate_classifier(*request, &phases);
    if (!text) return complain(text.error());
    std::fputs(text->c_str(), stdout);
    return conclude(phases, "evaluate", "sets", end_of_output());
  });
}

int evaluate_voice_command(std::span<char*> arguments) {
  return guarded("the evaluation cannot go on", "Take fewer threads", [&] {
    bool json = false;
    const auto request = voice_evaluation_of(arguments, json);
    if (!request) return complain(request.error());
    SerialRun phases;
    const auto measures = phases.measure("the network", [&] { return evaluate_voice(*request); });
    if (!measures) return complain(measures.error());
    std::puts((json ? measures_json(*measures) : measures_text(*measures)).c_str());
    return conclude(phases, "evaluate", "sets", end_of_output());
  });
}

int plan_training_command(std::span<char*> arguments) {
  return guarded("the training cannot be planned", "Plan where memory is free", [&] {
    std::string training, gpus;
    TrainingPlanRequest request;
    OptionTable table("tutti-engine plan-training", "");
    table.add("train", training);
    table.add("gpus", gpus);
    table.add("data", request.data);
    table.add("model", request.model);
    table.add("json", request.json);
    if (const auto read = table.read_line_of_program(arguments); !read) return complain(read.error());
    for (const auto& gpu : nlohmann::ordered_json::parse(gpus))  // [NAME, BYTES]
      request.gpus.push_back({gpu.at(0), Bytes{gpu.at(1)}});
    const auto text = plan_training(training, request);
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
