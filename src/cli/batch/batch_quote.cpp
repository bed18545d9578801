#include "cli/batch/batch_quote.h"

#include <algorithm>
#include <map>

#include "base/log.h"
#include "jobs/open_store.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr std::size_t kRunsAsked = 20;
constexpr double kSecondsAnHour = 3600;

/// Emulated cards need no model: what they hold is theirs to say.
Capacity capacity_on(const PlanTarget& target, const std::optional<ModelShape>& shape, const BatchOptions& options) {
  if (target.windows) return {.fits = *target.windows, .in_flight = *target.windows};
  if (!shape) return {.fits = kWindowsInFlight, .in_flight = kWindowsInFlight};
  const std::string& type = options.run.compute_type;
  return capacity({.shape = *shape,
                   .compute_type = type == "auto" ? "default" : type,
                   .beams = std::max(1, options.run.decoding.beam_size)},
                  target);
}

/// What the devices drew in earlier runs, all together; none where one of them never said.
std::optional<double> watts_of(const std::vector<PlanTarget>& targets, const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "tutti.sqlite", ignored)) return {};
  const auto store = open_store({.folder = folder});
  const auto runs = store ? (*store)->runs(kRunsAsked) : tl::unexpected<Error>(store.error());
  if (!runs) return {};
  std::map<std::string, std::pair<double, Seconds>> drawn;
  for (const auto& run : *runs)
    for (const auto& use : run.end.devices)
      if (use.energy_joules) {
        drawn[use.device].first += *use.energy_joules;
        drawn[use.device].second += run.end.elapsed;
      }
  double watts = 0;
  for (const auto& target : targets) {
    const auto found = drawn.find(target.record);
    if (found == drawn.end() || found->second.second <= Seconds(0)) return {};
    watts += found->second.first / found->second.second.count();
  }
  return watts;
}

}  // namespace

QuoteBasis quote_basis(const BatchOptions& options) {
  QuoteBasis basis{.price = options.price, .foreseen = options.run.batched && options.policy == "tutti"};
  basis.question.tasks_at_once = options.tasks_at_once;
  for (const auto& device : options.devices) {
    basis.question.targets.push_back(plan_target(device));
    basis.question.targets.back().task_cap = options.task_cap(device.id);
  }
  auto& targets = basis.question.targets;
  const auto known = add_known_speeds(targets, options.state, options.run.model.string(), options.run.compute_type);
  if (!known) log(Level::warning, "speeds of earlier batches are not known: " + known.error().text());
  basis.watts = watts_of(targets, options.state);
  const auto shape = options.run.model.empty() ? std::nullopt : model_shape(options.run.model);
  for (const auto& target : targets) basis.on.push_back(capacity_on(target, shape, options));
  return basis;
}

std::string BatchQuote::text() const {
  return "Expected: " + length_text(time.audio) + " of audio in " + length_text(time.expected) +
         "; four times out of five between " + length_text(time.least) + " and " + length_text(time.most);
}

std::optional<BatchQuote> QuoteBasis::quote(std::span<const Seconds> recordings) const {
  const bool all_known =
      std::ranges::all_of(question.targets, [](const auto& target) { return target.speed.has_value(); });
  if (!foreseen || !all_known || recordings.empty()) return {};
  QuoteQuestion asked = question;
  for (const Seconds length : recordings) asked.tasks.push_back({.audio = length, .believed = length});
  BatchQuote quote{.time = quote_time(asked, on)};
  const double seconds = quote.time.expected.count();
  if (price) quote.cost = *price * static_cast<double>(question.targets.size()) * seconds / kSecondsAnHour;
  if (watts) quote.energy_joules = *watts * seconds;
  return quote;
}

}  // namespace tutti
