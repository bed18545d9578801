#include "train/command.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/terminal/standard_streams.h"
#include "feed/recipe/recipe_file.h"
#include "model/gpu.h"
#include "model/gpu/out_of_memory.h"
#include "train/peers/peers.h"
#include "train/whisper/training.h"

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

Result<WhisperTraining> training_of(std::span<char*> arguments) {
  if (arguments.empty() || std::string_view(arguments[0]) != "whisper")
    return fail(Fault::usage, "train: expected 'whisper'");
  const auto line = Line::read(arguments.subspan(1), {"--config", "--model", "--out", "--device"}, {"--resume"});
  if (!line) return tl::unexpected<Error>(line.error());
  const auto config = line->value("--config");
  const auto text = read_file(config);
  if (!text) return tl::unexpected<Error>(text.error());
  auto recipe = read_recipe(*text, config);
  if (!recipe) return tl::unexpected<Error>(recipe.error());
  if (line->has("--device")) recipe->device = line->value("--device");
  const auto device = device_of_process(recipe->device, recipe->device == "cuda" ? gpu::count() : 0);
  if (!device) return tl::unexpected<Error>(device.error());
  recipe->device = *device;
  return WhisperTraining{.recipe = std::move(*recipe),
                         .model = line->value("--model"),
                         .out = line->value("--out"),
                         .resume = line->has("--resume"),
                         .settings = *text};
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
  if (line->has("--device")) request.device = line->value("--device");
  if (line->has("--compute-type")) request.compute_type = line->value("--compute-type");
  if (line->has("--samples")) request.samples = std::stoi(line->value("--samples"));
  if (line->has("--threads")) request.threads = std::stoi(line->value("--threads"));
  return request;
}

int complain(const Error& error) {
  log(Level::error, error.text());
  return error.fault == Fault::usage ? kUsage : kNothingRan;
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

/// oneDNN keeps what it has compiled for the last 1024 shapes of its operands, some 2 MB each. Batches come in ever new
/// lengths, so in training that grows to gigabytes that are hardly ever used again. A step needs about a dozen.
void keep_few_kernels() {
  ::setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64", /*overwrite=*/0);
}

}  // namespace

int train_command(std::span<char*> arguments) {
  keep_few_kernels();
  constexpr const char* kSmaller =
      "Take a smaller model or window, or the same with gradient-checkpointing or freeze-encoder";
  return guarded("the training cannot go on", kSmaller, [&] {
    auto training = training_of(arguments);
    if (!training) return complain(training.error());
    const auto end = train_whisper(std::move(*training));
    if (!end) return complain(end.error());
    return *end == TrainingEnd::interrupted ? kInterrupted : 0;
  });
}

int evaluate_command(std::span<char*> arguments, const ChooseComputeType& choose) {
  constexpr const char* kSmaller = "Take a smaller model, a smaller compute-type, or another device";
  return guarded("the evaluation cannot go on", kSmaller, [&] {
    const auto request = evaluation_of(arguments);
    if (!request) return complain(request.error());
    if (const auto done = evaluate_model(*request, choose); !done) return complain(done.error());
    const auto flushed = flush_standard_output();
    if (!flushed) complain(flushed.error());
    return static_cast<int>(flushed ? kDone : kSomeFailed);
  });
}

}  // namespace tutti
