#include "train/report/training_log.h"

#include <cmath>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/try.h"

namespace tutti {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// A number as JSON has it: what is no finite one becomes null.
OrderedJson number(double value) {
  return std::isfinite(value) ? OrderedJson(value) : OrderedJson();
}

/// Ids are as they were found, and need not be UTF-8.
std::string line_of(const OrderedJson& object) {
  return json_line(object);
}

/// The lines of steps up to `last_step`, of which there may be an evaluation to come.
std::string kept_lines(const std::string& text, std::int64_t last_step, bool evaluation_due) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    const auto json = OrderedJson::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) continue;
    const auto behind = json["step"].get<std::int64_t>() - last_step;
    const bool comes_again = behind == 0 && evaluation_due && json.contains("evaluation");
    if (behind <= 0 && !comes_again) kept += line + "\n";
  }
  return kept;
}

}  // namespace

Result<JsonLines> JsonLines::open(const std::filesystem::path& path, std::int64_t last_step, bool evaluation_due) {
  std::error_code ignored;
  std::string before;
  if (last_step > 0 && std::filesystem::exists(path, ignored)) {
    auto text = TRY(read_file(path));
    before = kept_lines(text, last_step, evaluation_due);
  }
  TRY(write_file_atomically(path, before));
  auto file = TRY(GrowingFile::open(path));
  return JsonLines(std::move(file));
}

Result<TrainingLog> TrainingLog::open(const TrainingLogOptions& options) {
  auto metrics = TRY(JsonLines::open(options.out / "metrics.jsonl", options.last_step, options.evaluation_due));
  std::unique_ptr<JsonLines> order;
  if (options.log_order) {
    auto opened = TRY(JsonLines::open(options.out / "order.jsonl", options.last_step));
    order = std::make_unique<JsonLines>(std::move(opened));
  }
  auto events = TRY(EventFile::create(options.out / "events"));
  return TrainingLog(options, std::move(metrics), std::move(events), std::move(order));
}

void TrainingLog::stepped(const StepReport& step, const MachineLoad& load) {
  if (order_) order_->add(line_of({{"step", step.state.step}, {"epoch", step.state.epoch}, {"ids", step.ids.all()}}));
  const bool is_number = std::isfinite(step.outcome.loss);
  ++steps_.count;
  steps_.finite += is_number;
  steps_.loss += is_number ? step.outcome.loss : 0;
  steps_.waited += step.waited;
  steps_.seconds += step.seconds;
  steps_.samples += step.outcome.samples;
  steps_.targets += step.outcome.targets;
  steps_.frames += step.outcome.frames;
  steps_.new_shapes += step.outcome.new_shapes;
  last_ = {.step = step.state.step,
           .epoch = step.state.epoch,
           .rate = step.rate,
           .gradient_norm = step.outcome.gradient_norm,
           .left_out = step.state.left_out,
           .shapes = step.outcome.shapes,
           .load = load};
  if (step.state.step % options_.log_steps == 0 || step.ends_epoch) write_line();
}

void TrainingLog::ended() {
  if (steps_.count > 0) write_line();
}

void TrainingLog::write_line() {
  const auto all = std::exchange(steps_, {});
  const double loss = all.loss / static_cast<double>(all.finite);  // NaN without finite steps
  OrderedJson line{{"step", last_.step},
                   {"epoch", last_.epoch},
                   {"loss", number(loss)},
                   {"rate", last_.rate},
                   {"gradient_norm", number(last_.gradient_norm)},
                   {"samples", all.samples},
                   {"targets", all.targets},
                   {"frames", all.frames.computed},
                   {"padding", all.frames.padding},
                   {"filled_up", all.frames.filled_up},
                   {"shapes", last_.shapes},
                   {"new_shapes", all.new_shapes},
                   {"seconds", all.seconds},
                   {"waited", all.waited},
                   {"left_out", last_.left_out}};
  std::vector<EventScalar> scalars{{"train/loss", loss},
                                   {"train/rate", last_.rate},
                                   {"train/gradient_norm", last_.gradient_norm},
                                   {"train/samples_per_second", static_cast<double>(all.samples) / all.seconds},
                                   {"train/waiting_share", all.waited / all.seconds},
                                   {"train/padding_share", all.frames.padding_share()},
                                   {"train/needed_padding_share", all.frames.needed_share()}};
  const auto add_share = [&](const char* key, const char* tag, std::optional<double> share) {
    if (!share) return;
    line[key] = *share;
    scalars.push_back({tag, *share});
  };
  add_share("gpu", "machine/gpu", last_.load.gpu);
  add_share("cpu", "machine/cpu", last_.load.cpu);
  metrics_.add(line_of(line));
  events_.add(last_.step, scalars);
}

void TrainingLog::evaluated(const TrainingState& state, const TaskScores& scores, bool best) {
  OrderedJson line{{"step", state.step}, {"epoch", state.epoch}, {"best", best}};
  line["evaluation"] = OrderedJson::parse(scores.json);
  metrics_.add(line_of(line));
  std::vector<EventScalar> scalars;
  for (const auto& [name, value] : scores.metrics) scalars.push_back({"evaluation/" + name, value});
  events_.add(state.step, scalars);
}

}  // namespace tutti
