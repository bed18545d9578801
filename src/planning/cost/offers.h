#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "device/prices/price_list.h"
#include "planning/quote.h"

namespace tutti {

/// Something that can be bought to do the work, and how fast a device of it is.
struct Offer {
  Price price{};
  PlanTarget target{};       ///< a device of it; without a speed nothing more is known
  std::string speed_from{};  ///< "speed" as its reader knows it, "earlier batches on cuda:0", "measured now on cpu"
  std::optional<double> word_errors{};  ///< words that differ from the baseline's of the same audio; none: not compared

  /// Audio seconds a second of all devices in it.
  std::optional<double> speed() const;
  /// USD for an hour of audio on devices that are always busy.
  std::optional<double> audio_hour() const;
  /// Joules for an hour of audio, likewise; none: what they draw is not known.
  std::optional<double> audio_hour_joules() const;
  /// "g4dn.xlarge spot", "cpu".
  std::string name() const;
};

/// What is to be transcribed, by what, and how many instances there may be.
struct OfferWork {
  QuoteQuestion question{};  ///< without targets
  Seconds start_up{};        ///< paid before an instance's worker loads its model
  int most = 100;            ///< instances at once
};

/// What has to be met, nine times out of ten.
struct OfferGoal {
  std::optional<Seconds> deadline{};
  std::optional<double> budget{};  ///< USD

  bool is_set() const { return deadline || budget; }
};

/// So many instances of an offer, as the simulator of `tutti plan` has them.
struct OfferPlan {
  int count = 1;
  TimeQuote time{};
  DeviceCost cost{};     ///< for the expected time
  double most_cost = 0;  ///< nine times out of ten it is no more
};

/// Plans offers. Offers of equal devices share their simulations, which take a second or two each for a long list.
class OfferPlanner {
 public:
  explicit OfferPlanner(OfferWork work) : work_(std::move(work)) {}

  /// None where the model does not fit on it, or its speed is not known.
  Result<std::optional<OfferPlan>> plan(const Offer& offer, int count);
  /// Without a goal one instance. For a deadline the fewest that meet it; for a budget as many as it allows, but for
  /// those that would gain less than a hundredth of the time. None where no number does.
  Result<std::optional<OfferPlan>> choose(const Offer& offer, const OfferGoal& goal);

 private:
  using Simulated = std::optional<TimeQuote>;

  Result<Simulated> simulate(const Offer& offer, int count);
  Result<std::optional<OfferPlan>> fewest_by(const Offer& offer, Seconds deadline);
  Result<std::optional<OfferPlan>> most_within(const Offer& offer, double budget);
  int least_count(const Offer& offer, Seconds deadline) const;

  OfferWork work_;
  std::map<std::string, std::map<int, Simulated>> known_{};  // by device, by count
};

/// The one to take of several plans, by index: the cheapest that meets a deadline, else the fastest within a budget,
/// else the cheapest. None: there is no plan.
std::optional<std::size_t> recommended(const std::vector<std::optional<OfferPlan>>& plans, const OfferGoal& goal);

}  // namespace tutti
