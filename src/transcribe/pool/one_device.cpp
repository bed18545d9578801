#include "transcribe/pool/one_device.h"

#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/try.h"
#include "device/device_spec.h"
#include "device/machine_devices.h"
#include "hub/model_shape.h"
#include "text/tokenizer.h"
#include "transcribe/worker_start.h"

namespace tutti {
namespace {

Result<PooledDevice> chosen_device(const TranscribeOptions& options) {
  const auto spec = TRY(parse_device(options.device));
  const auto device = TRY(resolve(spec, find_devices()));
  std::optional<EmulatedSpeech> speech;
  if (device.kind == ResolvedDevice::Kind::emulated) {
    speech = TRY(emulated_speech(options.model));
  }
  auto worker = TRY(worker_options(device, options, speech));
  return PooledDevice{
      .id = device.name, .worker = std::move(worker), .is_gpu = device.kind != ResolvedDevice::Kind::cpu};
}

/// A pool's end is the device's fault to its callers; to a user it is what kept the device from its model.
Error as_found(Error error, DevicePool& pool) {
  if (const auto gone = pool.view().devices.front().gone) error.fault = *gone;
  return error;
}

}  // namespace

PoolPlan plan_of_one(PooledDevice device) {
  constexpr Seconds kForEver{1e7};
  PoolPlan plan{.patience = kForEver,
                .restarts = {.failed_starts = 3,
                             .restarts_without_work = 8,
                             .first_wait = Seconds(0.1),
                             .longest_wait = Seconds(5)},
                .breaker = {.failures_in_a_row = 1, .back_off = Seconds(0), .canaries = 1, .warm_up_successes = 1},
                .detects_stalls = false,
                .fresh_worker_decides = true};
  plan.devices.push_back(std::move(device));
  return plan;
}

Result<std::shared_ptr<const LoadedDevice>> load_device(const TranscribeOptions& options, StopSignal& stop) {
  const auto started = Clock::real().now();
  auto device = TRY(chosen_device(options));
  auto pool = DevicePool::start(plan_of_one(std::move(device)));
  TokenizerAhead ahead(options.model);
  stop.on_abort([&pool] { pool->stop(Seconds(0)); });
  const auto ready = pool->ready();
  stop.on_abort({});
  if (!ready) return tl::unexpected(as_found(ready.error(), *pool));

  auto tokenizer = TRY(ahead.get(ready->n_vocab));
  auto model = TRY(spoken_model(std::move(tokenizer), *ready, options, takes_keyed_tone(options.model)));
  return std::make_shared<const LoadedDevice>(LoadedDevice{.pool = std::move(pool),
                                                           .model = std::move(model),
                                                           .device_name = ready->device_name,
                                                           .compute_type = ready->compute_type,
                                                           .slots = ready->slots,
                                                           .load = Clock::real().now() - started});
}

}  // namespace tutti
