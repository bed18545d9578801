#include "transcribe/worker_start.h"

#include "base/clock.h"
#include "base/log.h"
#include "device/device_spec.h"
#include "device/machine_devices.h"
#include "link/connection.h"
#include "link/engine_command.h"
#include "text/tokenizer_ahead.h"

namespace tutti {
namespace {

Result<WorkerOptions> worker_options(const RunOptions& options) {
  const auto spec = parse_device(options.device);
  if (!spec) return tl::unexpected(spec.error());
  const auto device = resolve(*spec, find_devices());
  if (!device) return tl::unexpected(device.error());
  auto command = engine_command(EngineSettings::of_this_process(), {"worker", "--fd", std::to_string(kWorkerSocket)});
  if (!command) return tl::unexpected(command.error());
  const bool gpu = device->kind == ResolvedDevice::Kind::cuda;
  const std::string usual = gpu ? "float16" : "float32";
  return WorkerOptions{.name = "worker " + device->name,
                       .command = std::move(*command),
                       .device_uuid = device->uuid,
                       .build_id = options.build_id,
                       .model = {.model_path = options.model.string(),
                                 .device = gpu ? "cuda:0" : "cpu",  // a worker sees one GPU only
                                 .compute_type = options.compute_type == "default" ? usual : options.compute_type,
                                 .threads = options.threads,
                                 .batch_size = options.batch_size,
                                 .deterministic = options.deterministic}};
}

/// The run's rules made to fit the model's vocabulary.
LongFormOptions fitting(LongFormOptions rules, const SpecialTokens& special) {
  if (special.multilingual && rules.translate && rules.words)
    log(Level::warning, "the words of a translation have no times of their own in the audio; theirs may be far off");
  if (special.multilingual) return rules;
  if (rules.language && *rules.language != "en")
    log(Level::warning, "the model is English-only; '" + *rules.language + "' was asked for, English is used");
  if (rules.translate) log(Level::warning, "the model is English-only and cannot translate; it transcribes");
  rules.language = "en";
  rules.translate = false;
  return rules;
}

}  // namespace

Result<std::shared_ptr<const LoadedWorker>> start_worker(const RunOptions& options, Interrupt& interrupt) {
  const auto started = Clock::real().now();
  auto settings = worker_options(options);
  if (!settings) return tl::unexpected(settings.error());
  auto engine = WorkerHandle::start(std::move(*settings));
  if (!engine) return tl::unexpected(engine.error());
  TokenizerAhead ahead(options.model);
  interrupt.on_abort([handle = engine->get()] { handle->stop(Seconds(0)); });
  const auto ready = (*engine)->ready();
  interrupt.on_abort({});
  if (!ready) return tl::unexpected(ready.error());

  auto tokenizer = ahead.get(ready->n_vocab);
  if (!tokenizer) return tl::unexpected(tokenizer.error());
  auto suppressed = suppressed_tokens(*tokenizer, options.decoding.suppress_tokens);
  LongFormOptions rules = fitting(options.long_form, tokenizer->special());
  if (options.vad) rules.clip_timestamps = LongFormOptions{}.clip_timestamps;  // they cut the speech beforehand
  return std::make_shared<const LoadedWorker>(LoadedWorker{.engine = std::move(*engine),
                                                           .tokenizer = std::move(*tokenizer),
                                                           .log_mel = LogMel(ready->n_mels),
                                                           .suppressed = std::move(suppressed),
                                                           .rules = std::move(rules),
                                                           .frames_per_window = 2 * ready->n_audio_ctx,
                                                           .n_text_ctx = ready->n_text_ctx,
                                                           .device_name = ready->device_name,
                                                           .compute_type = ready->compute_type,
                                                           .slots = ready->slots,
                                                           .load = Clock::real().now() - started});
}

}  // namespace tutti
