#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planning/cost/offers.h"

namespace tutti {

/// What storage and requests cost for the work. USD.
struct ServiceCost {
  std::optional<Bytes> stored{};  ///< kept for a month
  std::optional<double> storage{};
  double request_count = 0;
  std::optional<double> requests{};

  double total() const { return storage.value_or(0) + requests.value_or(0); }
};

/// Pure. None of the parts is known without its price; storage neither without its size.
ServiceCost service_cost(const ServicePrices& prices, std::size_t recordings, const std::optional<Bytes>& stored);

/// What `tutti cost` answers: offers beside each other, and how many of each the work takes.
struct CostAnswer {
  std::string model{};
  std::vector<Offer> offers{};
  std::optional<std::size_t> baseline{};  ///< an offer with a speed that the others are compared with
  // Where there is work:
  OfferGoal goal{};
  OfferWork work{};
  std::vector<std::optional<OfferPlan>> plans{};  ///< by offer; empty: no work
  ServiceCost services{};

  Seconds audio() const;
  /// The goal is met by an offer, or there is none.
  bool is_met() const;
  std::string text() const;
  std::string json() const;
};

/// The offer that `name` names by its instance, device, or both with the purchase; without a name the first of a CPU,
/// else the first. Only offers whose speed is known. None: there is no such.
std::optional<std::size_t> baseline_of(const std::vector<Offer>& offers, const std::string& name);

}  // namespace tutti
