#include "transcribe/worker_start/worker_start.h"

#include "base/clock.h"
#include "device/device_spec.h"
#include "device/machine_devices.h"
#include "text/tokenizer_ahead.h"
#include "transcribe/worker_start/worker_options.h"

namespace tutti {
namespace {

Result<WorkerOptions> options_of_worker(const RunOptions& options) {
  const auto spec = parse_device(options.device);
  if (!spec) return tl::unexpected(spec.error());
  const auto device = resolve(*spec, find_devices());
  if (!device) return tl::unexpected(device.error());
  std::optional<EmulatedSpeech> speech;
  if (device->kind == ResolvedDevice::Kind::emulated) {
    auto read = emulated_speech(options.model);
    if (!read) return tl::unexpected(read.error());
    speech = std::move(*read);
  }
  return worker_options(*device, options, speech);
}

}  // namespace

Result<std::shared_ptr<const LoadedWorker>> start_worker(const RunOptions& options, StopSignal& stop) {
  const auto started = Clock::real().now();
  auto settings = options_of_worker(options);
  if (!settings) return tl::unexpected(settings.error());
  auto engine = WorkerHandle::start(std::move(*settings));
  if (!engine) return tl::unexpected(engine.error());
  TokenizerAhead ahead(options.model);
  stop.on_abort([handle = engine->get()] { handle->stop(Seconds(0)); });
  const auto ready = (*engine)->ready();
  stop.on_abort({});
  if (!ready) return tl::unexpected(ready.error());

  auto tokenizer = ahead.get(ready->n_vocab);
  if (!tokenizer) return tl::unexpected(tokenizer.error());
  auto model = spoken_model(std::move(*tokenizer), *ready, options);
  if (!model) return tl::unexpected(model.error());
  return std::make_shared<const LoadedWorker>(LoadedWorker{.engine = std::move(*engine),
                                                           .model = std::move(*model),
                                                           .device_name = ready->device_name,
                                                           .compute_type = ready->compute_type,
                                                           .slots = ready->slots,
                                                           .load = Clock::real().now() - started});
}

}  // namespace tutti
