#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "device/prices/price_list.h"
#include "transcribe/batch/batch_report.h"

namespace tutti {

/// How a device spent the time of a run, and what an hour of it costs.
struct BilledDevice {
  std::string id{};    ///< as the report has it
  std::string name{};  ///< for people
  std::optional<double> usd_hour{};
  Seconds busy{};
  Seconds in_recordings{};                ///< of `busy`: for recordings that ended in the run
  std::map<std::string, Seconds> idle{};  ///< by reason; with `busy` the run's time
  std::optional<double> energy_joules{};
};

/// A cost in the parts that it was spent for. USD.
struct BillParts {
  double recordings = 0;  ///< the recordings that ended
  double other = 0;       ///< other work: attempts that failed, what was in work when it was stopped
  double idle = 0;        ///< time in which devices did nothing

  double total() const { return recordings + other + idle; }
};

/// What a batch's devices cost: every second of every device, for what it was spent.
struct RunBill {
  Seconds elapsed{};
  Seconds audio{};             ///< that was transcribed
  std::size_t recordings = 0;  ///< that were done
  std::vector<BilledDevice> devices{};

  /// None where a device has no price.
  std::optional<BillParts> parts() const;
  /// The devices as prices name them.
  std::vector<PricedDevice> priced_devices() const;

  std::string text() const;
  std::string json() const;
};

/// The parts of one device; 0 without a price.
BillParts parts_of(const BilledDevice& device, Seconds elapsed);

RunBill bill_of(const BatchReport& report, const HourlyPrices& prices);

/// The bill in a report of `tutti batch --report`, with the prices that it was written with. Fault::corrupt names what
/// is missing; `name` is the file's.
Result<RunBill> read_bill(std::string_view report, const std::string& name);

}  // namespace tutti
