#include "planning/cost/cost_question.h"

#include <thread>

#include "base/field_names.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "device/machine.h"
#include "planning/durations.h"
#include "planning/policy_table.h"
#include "transcribe/bench.h"

namespace tutti {
namespace {

std::vector<std::string> devices_here() {
  std::vector<std::string> devices{"cpu"};
  const auto gpus = find_devices().visible.size();
  for (std::size_t i = 0; i < gpus; ++i) devices.push_back("cuda:" + std::to_string(i));
  return devices;
}

Result<std::vector<KnownDevice>> measured_now(const CostQuestion& question, StopSignal& stop) {
  MeasureRequest request{.model = question.model_path,
                         .compute_type = question.compute_type,
                         .devices = question.devices.empty() ? devices_here() : question.devices};
  const auto clip = TRY(bundled_clip());
  constexpr int kClipRepeats = 16;  // enough to fill a batch
  for (const std::string& file : question.measured)
    if (file == "clip")
      request.files.insert(request.files.end(), kClipRepeats, clip.path);
    else
      request.files.emplace_back(file);
  return measure_devices(request, stop);
}

/// As earlier batches name the model.
std::string model_of_batches(const CostQuestion& question) {
  return question.model_path.empty() ? question.model : question.model_path.string();
}

Result<void> add_work(CostAnswer& answer, const CostQuestion& question) {
  const auto found = TRY(read_durations(question.recordings, question.read));
  if (found.unknown > 0) log(Level::warning, found.left_out());
  answer.goal = question.goal;
  answer.services = service_cost(question.prices.services, found.seconds.size(), question.stored);
  answer.work = {
      .question = {.model = question.model,
                   .compute_type = question.compute_type,
                   .cores = static_cast<int>(std::thread::hardware_concurrency()),
                   .jobs = with_error(found.seconds, 0, 0),
                   .speech = found.plain ? std::nullopt : speech_share(question.past.runs, model_of_batches(question))},
      .start_up = question.start_up,
      .most = question.most};
  OfferGoal of_instances = answer.goal;
  if (of_instances.budget) *of_instances.budget -= answer.services.total();
  OfferPlanner planner(answer.work);
  for (const Offer& offer : answer.offers) {
    auto plan = TRY(planner.choose(offer, of_instances));
    answer.plans.push_back(std::move(plan));
  }
  return {};
}

}  // namespace

Result<CostAnswer> answer_cost(const CostQuestion& question, StopSignal& stop) {
  auto known = devices_of_batches(
      question.past, {.model = model_of_batches(question), .compute_type = question.compute_type, .any_type = true});
  if (!question.measured.empty()) {
    known = TRY(measured_now(question, stop));
  }
  auto offers = TRY(offers_of(question.prices, question.purchase, known, question.speeds));
  CostAnswer answer{.model = question.model, .offers = std::move(offers)};
  answer.baseline = baseline_of(answer.offers, question.baseline);
  if (!answer.baseline && !question.baseline.empty())
    return fail(Fault::usage, field("baseline") + " " + question.baseline + ": no offer with a known speed is named so",
                "There are: " + joined(answer.offers, ", ", [](const Offer& offer) { return offer.name(); }));
  if (question.recordings.empty()) return answer;
  TRY(add_work(answer, question));
  return answer;
}

}  // namespace tutti
