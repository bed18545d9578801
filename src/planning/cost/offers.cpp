#include "planning/cost/offers.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/try.h"
#include "planning/policy_table.h"

namespace tutti {
namespace {

constexpr double kNoGain = 1.01;  // so many times the shortest time is no longer

/// Whether devices are simulated alike.
std::string device_key(const Offer& offer) {
  const PlanTarget& target = offer.target;
  return target.id + " " + number_text(target.speed.value_or(0)) + " " + std::to_string(offer.price.devices) + " " +
         std::to_string(target.memory.value_or(Bytes{}).value) + (target.on_cpu ? " cpu " : " ") +
         number_text(target.warm_up.count());
}

/// The least count in (`low`, `high`] that `meets`, which all beyond it do, too; `high` meets.
template <class Meets>
Result<int> least_that(int low, int high, const Meets& meets) {
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    const auto met = TRY(meets(middle));
    (met ? high : low) = middle;
  }
  return high;
}

}  // namespace

std::optional<double> Offer::speed() const {
  if (!target.speed) return {};
  return throughput(target, kFullWindow) * price.devices;
}

std::optional<double> Offer::audio_hour() const {
  const auto all = speed();
  return all && *all > 0 ? std::optional(price.usd_hour / *all) : std::nullopt;
}

std::optional<double> Offer::audio_hour_joules() const {
  const auto all = speed();
  if (!all || *all <= 0 || !target.watts) return {};
  return *target.watts * price.devices * Seconds(std::chrono::hours(1)).count() / *all;
}

std::string Offer::name() const {
  return price.is_typed() ? price.name() : price.name() + " " + price.purchase;
}

Result<OfferPlanner::Simulated> OfferPlanner::simulate(const Offer& offer, int count) {
  auto& known = known_[device_key(offer)];
  if (const auto found = known.find(count); found != known.end()) return found->second;
  QuoteQuestion question = work_.question;
  for (int i = 0; i < count * offer.price.devices; ++i) {
    question.targets.push_back(offer.target);
    question.targets.back().id = offer.price.name() + "#" + std::to_string(i + 1);
    question.targets.back().warm_up += work_.start_up;
  }
  const auto quote = TRY(make_quote(std::move(question)));
  const bool fits = std::ranges::all_of(quote.chosen.on, [](const auto& on) { return on.fits > 0; });
  return known[count] = fits ? quote.time : std::nullopt;
}

Result<std::optional<OfferPlan>> OfferPlanner::plan(const Offer& offer, int count) {
  if (!offer.target.speed) return std::nullopt;
  const auto time = TRY(simulate(offer, count));
  if (!time) return std::nullopt;
  OfferPlan plan{.count = count, .time = *time};
  const double device_hour = offer.price.usd_hour / offer.price.devices;
  std::vector<PricedTime> priced;
  for (const Seconds busy : plan.time.busy)
    priced.push_back({.usd_hour = device_hour, .time = plan.time.expected, .busy = busy});
  plan.cost = cost_of(priced).value_or(DeviceCost{});
  plan.most_cost = usd_of(offer.price.usd_hour * count, plan.time.most);
  return plan;
}

/// No fewer can: they would have to be faster than they are.
int OfferPlanner::least_count(const Offer& offer, Seconds deadline) const {
  const Seconds left = deadline - work_.start_up - offer.target.warm_up;
  if (left <= Seconds(0)) return work_.most + 1;
  Seconds audio{};
  for (const SimJob& job : work_.question.jobs) audio += job.audio * work_.question.speech.value_or(1);
  const double count = audio / left / offer.speed().value_or(1);
  return static_cast<int>(std::clamp(count, 1.0, work_.most + 1.0));
}

Result<std::optional<OfferPlan>> OfferPlanner::fewest_by(const Offer& offer, Seconds deadline) {
  const auto meets = [&](int count) {
    return plan(offer, count).transform([&](const auto& it) { return it && it->time.most <= deadline; });
  };
  int low = least_count(offer, deadline) - 1;
  for (int step = 1; low < work_.most; step *= 2) {
    const int high = std::min(work_.most, low + step);
    const auto met = TRY(meets(high));
    if (!met) {
      low = high;
      continue;
    }
    const auto least = TRY(least_that(low, high, meets));
    return plan(offer, least);
  }
  return std::nullopt;
}

/// More instances may cost less than one, in nine cases of ten: what one of them takes by chance evens out.
Result<std::optional<OfferPlan>> OfferPlanner::most_within(const Offer& offer, double budget) {
  const auto exceeds = [&](int count) {
    return plan(offer, count).transform([&](const auto& it) { return !it || it->most_cost > budget; });
  };
  int least = 1;
  for (;; least *= 2) {
    if (least > work_.most) return std::nullopt;
    const auto beyond = TRY(exceeds(least));
    if (!beyond) break;
  }
  const auto all = TRY(exceeds(work_.most));
  int most = work_.most;
  if (all) {
    const auto first_beyond = TRY(least_that(least, work_.most, exceeds));
    most = first_beyond - 1;
  }
  const auto fastest = plan(offer, most);
  if (!fastest) return fastest;
  const auto as_fast = [&](int count) {
    return plan(offer, count).transform([&](const auto& it) {
      return it && it->time.expected <= kNoGain * (*fastest)->time.expected;
    });
  };
  const auto enough = TRY(least_that(0, most, as_fast));
  return plan(offer, enough);
}

Result<std::optional<OfferPlan>> OfferPlanner::choose(const Offer& offer, const OfferGoal& goal) {
  if (!offer.target.speed) return std::nullopt;
  if (!goal.is_set()) return plan(offer, 1);
  auto chosen = goal.deadline ? fewest_by(offer, *goal.deadline) : most_within(offer, *goal.budget);
  if (chosen && *chosen && goal.budget && (*chosen)->most_cost > *goal.budget) return std::nullopt;
  return chosen;
}

std::optional<std::size_t> recommended(const std::vector<std::optional<OfferPlan>>& plans, const OfferGoal& goal) {
  std::optional<Seconds> longest;  // none: any
  if (goal.budget && !goal.deadline)
    for (const auto& plan : plans)
      if (plan) longest = std::min(longest.value_or(Seconds::max()), kNoGain * plan->time.expected);
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i] || (longest && plans[i]->time.expected > *longest)) continue;
    if (!best || plans[i]->cost.total < plans[*best]->cost.total) best = i;
  }
  return best;
}

}  // namespace tutti
