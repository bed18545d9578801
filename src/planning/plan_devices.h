#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "balance/window_cost.h"
#include "base/error.h"
#include "base/units.h"
#include "device/list/device_list.h"
#include "device/list/emulated_card.h"
#include "device/machine_devices.h"
#include "device/prices/price_list.h"
#include "jobs/history.h"
#include "jobs/store_url.h"

namespace tutti {

/// A device to plan for.
struct PlanTarget {
  std::string id{};               ///< as `tutti batch --devices` takes it
  std::string name{};             ///< for people
  std::string record{};           ///< its name in the store's history: a GPU's UUID
  std::optional<double> speed{};  ///< times real time; none: not known
  std::string speed_type{};       ///< the compute type it was measured with; empty: not measured
  double speed_error = 0.05;      ///< by which that may be off, relative: one standard deviation
  /// What windows cost it, which then counts instead of the speed; none: too few batches have counted them.
  std::optional<WindowCost> window_cost{};
  std::optional<double> watts{};  ///< that it drew in earlier batches
  std::optional<double> price{};  ///< USD an hour
  std::optional<Bytes> memory{};  ///< that a model may use: of a GPU all of it; none: no bound
  std::optional<int> windows{};   ///< in flight, of an emulated GPU; none: as the model's memory allows
  Bytes model_memory{};           ///< memory of an emulated GPU for its model
  Bytes window_memory{};          ///< likewise, for each window in flight
  std::optional<int> job_cap{};   ///< jobs with a window in flight there, at most
  double jitter = 0;              ///< jitter of an emulated GPU: a window's time varies by up to this share either way
  Seconds warm_up{};              ///< until its worker is ready: as scripted, or as it took in an earlier batch
  std::vector<EmulatedFailure> failures{};  ///< likewise
  bool on_cpu = false;                      ///< its memory is this machine's
};

/// What the device itself reports: an emulated GPU its figures, a GPU its memory, a CPU what of this machine's is
/// available now.
PlanTarget plan_target(const ChosenDevice& chosen);

/// The devices of a list as `tutti batch --devices` takes it (device/list/device_list.h). Errors name the word.
Result<std::vector<PlanTarget>> plan_targets(std::string_view list, const MachineDevices& machine);

/// Whose measurements a speed is taken from: the latest, which are those with all windows in flight.
struct SpeedQuestion {
  std::string model{};
  std::string compute_type{};
  bool any_type = false;  ///< where the default type is requested and was not measured, one that was will do
};

/// What earlier batches have left in the store about devices.
struct DevicePast {
  std::vector<SpeedRecord> speeds{};  ///< the current ones
  std::vector<RunRecord> runs{};      ///< the last kRunsRead, latest first
};

/// Reads it from the store in `folder`; nothing where there is none, and makes none.
Result<DevicePast> read_device_past(const StoreUrl& url);

/// Adds to devices their speed and what windows cost them, how long they took to load the model in the last batch with
/// it, and what they drew in the last batches on average. What an emulated one knows of itself, and a speed that is
/// known already, stays.
void add_past(std::vector<PlanTarget>& targets, const DevicePast& past, const SpeedQuestion& question);

/// How much of the audio was found to be speech in these batches with a model: silence is not transcribed. Reckoned as
/// if an hour more had been all speech, so that a few short recordings have little weight. None where there was none.
std::optional<double> speech_share(const std::vector<RunRecord>& runs, const std::string& model);

/// The power of all devices together; none where one of them never reported it.
std::optional<double> watts_of(const std::vector<PlanTarget>& targets);

/// What prices_of (device/prices/price_list.h) needs to know of them.
std::vector<PricedDevice> priced_devices(const std::vector<PlanTarget>& targets);

/// Sets what they cost, by their ids.
void set_prices(std::vector<PlanTarget>& targets, const HourlyPrices& prices);

/// What devices cost over a time, and what part of it they were idle for. USD.
struct DeviceCost {
  double total = 0;
  double idle = 0;
};

/// A device's part of a cost.
struct PricedTime {
  std::optional<double> usd_hour{};
  Seconds time{};  ///< that is paid
  Seconds busy{};  ///< of it
};

/// None where a device has no price, or there are no devices.
std::optional<DeviceCost> cost_of(std::span<const PricedTime> devices);

/// The price that all devices have; none: they differ, or one has none.
std::optional<double> one_price(std::span<const PricedTime> devices);

/// Those of --gpus 12GB:30x,8GB:12x: cuda:0, cuda:1, … but none that is called like one of `others`.
Result<std::vector<PlanTarget>> plan_figures(std::string_view list, const std::vector<PlanTarget>& others = {});

/// Those of --gpus for a training: SIZE, or SIZE:SPEED as above; speeds count for nothing. Fault::usage names the word.
Result<std::vector<PlanTarget>> training_figures(std::string_view list);

}  // namespace tutti
