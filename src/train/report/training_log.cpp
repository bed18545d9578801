#include "train/report/training_log.h"

#include <cmath>
#include <sstream>

#include "base/files.h"
#include "base/json.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// A number as JSON has it: what is no finite one becomes null.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

/// Ids are as they were found, and need not be UTF-8.
std::string line_of(const Json& object) {
  return json_line(object);
}

/// The lines of steps up to `last_step`.
std::string kept_lines(const std::string& text, std::int64_t last_step) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const auto json = Json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("step") && json["step"].is_number_integer() &&
        json["step"].get<std::int64_t>() <= last_step)
      kept += line + "\n";
  }
  return kept;
}

}  // namespace

Result<JsonLines> JsonLines::open(const std::filesystem::path& path, std::int64_t last_step) {
  std::error_code ignored;
  std::string before;
  if (last_step > 0 && std::filesystem::exists(path, ignored)) {
    auto text = read_file(path);
    if (!text) return tl::unexpected<Error>(text.error());
    before = kept_lines(*text, last_step);
  }
  if (auto written = write_file_atomically(path, before); !written) return tl::unexpected<Error>(written.error());
  auto file = GrowingFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  return JsonLines(std::move(*file));
}

Result<TrainingLog> TrainingLog::open(const TrainingLogOptions& options) {
  auto metrics = JsonLines::open(options.out / "metrics.jsonl", options.last_step);
  if (!metrics) return tl::unexpected<Error>(metrics.error());
  std::unique_ptr<JsonLines> order;
  if (options.log_order) {
    auto opened = JsonLines::open(options.out / "order.jsonl", options.last_step);
    if (!opened) return tl::unexpected<Error>(opened.error());
    order = std::make_unique<JsonLines>(std::move(*opened));
  }
  auto events = EventFile::create(options.out / "events");
  if (!events) return tl::unexpected<Error>(events.error());
  return TrainingLog(options, std::move(*metrics), std::move(*events), std::move(order));
}

void TrainingLog::stepped(const StepReport& step) {
  if (order_) order_->add(line_of({{"step", step.state.step}, {"epoch", step.state.epoch}, {"ids", step.ids}}));
  ++steps_;
  loss_ += step.outcome.loss;
  waited_ += step.waited;
  seconds_ += step.seconds;
  samples_ += step.outcome.samples;
  targets_ += step.outcome.targets;
  if (step.state.step % options_.log_steps != 0 && !step.ends_epoch) return;
  metrics_.add(line_of({{"step", step.state.step},
                        {"epoch", step.state.epoch},
                        {"loss", number(loss_ / static_cast<double>(steps_))},
                        {"rate", step.rate},
                        {"gradient_norm", number(step.outcome.gradient_norm)},
                        {"samples", samples_},
                        {"targets", targets_},
                        {"seconds", seconds_},
                        {"waited", waited_},
                        {"left_out", step.state.left_out}}));
  const EventScalar scalars[] = {{"train/loss", loss_ / static_cast<double>(steps_)},
                                 {"train/rate", step.rate},
                                 {"train/gradient_norm", step.outcome.gradient_norm},
                                 {"train/samples_per_second", static_cast<double>(samples_) / seconds_},
                                 {"train/waiting_share", waited_ / seconds_}};
  events_.add(step.state.step, scalars);
  steps_ = samples_ = targets_ = 0;
  loss_ = waited_ = seconds_ = 0;
}

void TrainingLog::evaluated(const TrainingState& state, const Evaluation& evaluation, bool best) {
  Json line{{"step", state.step}, {"epoch", state.epoch}, {"best", best}};
  line["evaluation"] = Json::parse(evaluation_json(evaluation));
  metrics_.add(line_of(line));
  const EventScalar scalars[] = {{"evaluation/wer", evaluation.wer},
                                 {"evaluation/cer", evaluation.cer},
                                 {"evaluation/noise_accuracy", evaluation.noise_accuracy}};
  events_.add(state.step, scalars);
}

}  // namespace tutti
