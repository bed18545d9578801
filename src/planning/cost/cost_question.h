#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "planning/cost/cost_answer.h"
#include "planning/cost/offer_speeds.h"
#include "planning/plan_devices.h"
#include "transcribe/inputs/inputs.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// What is on offer, and the work that it is wanted for.
struct CostQuestion {
  PriceList prices{};
  std::string purchase{};              ///< only prices of this kind; empty: of all
  TypedSpeeds speeds{};                ///< they win over measured ones
  std::string model = "medium";        ///< by its name
  std::filesystem::path model_path{};  ///< where it is; empty: not on this machine
  std::string compute_type = "default";
  DevicePast past{};                      ///< what earlier batches have measured
  std::vector<std::string> measured{};    ///< recordings to measure devices with; "clip": the bundled one
  std::vector<std::string> devices{};     ///< to measure; none: the CPU and every GPU
  std::string baseline{};                 ///< as baseline_of takes it
  std::vector<std::string> recordings{};  ///< as read_durations takes them; none: offers alone
  InputOptions read{};                    ///< how these are read
  Seconds start_up{};                     ///< as OfferWork
  int most = 100;                         ///< as OfferWork
  std::optional<Bytes> stored{};          ///< as service_cost takes it
  OfferGoal goal{};                       ///< its budget is for storage and requests, too
};

/// Compares the offers, and plans the work on each. Measuring takes as long as measure_devices; blocks. Errors as
/// offers_of, measure_devices and read_durations; Fault::usage where no offer has the baseline's name.
Result<CostAnswer> answer_cost(const CostQuestion& question, StopSignal& stop);

}  // namespace tutti
