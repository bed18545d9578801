#include "transcribe/speakers/speaker_run.h"

#include <utility>

#include "audio/recording.h"
#include "base/field_names.h"
#include "base/try.h"
#include "device/machine_devices.h"
#include "diarize/rttm.h"
#include "transcribe/speakers/recording_speakers.h"
#include "transcribe/worker_start.h"

namespace tutti {

Result<ResolvedDevice> speaker_device(const std::string& name) {
  const auto spec = TRY(parse_device(name));
  auto device = resolve(spec, find_devices());
  if (device && device->kind == ResolvedDevice::Kind::emulated)
    return fail(Fault::unsupported, field("device") + " " + name + ": an emulated device finds no speakers");
  return device;
}

Result<std::unique_ptr<WorkerHandle>> start_speaker_worker(const ResolvedDevice& device, std::int32_t threads,
                                                           std::string_view build_id) {
  RunOptions options;
  options.build_id = build_id;
  options.threads = threads;
  auto worker = TRY(worker_options(device, options, {}));
  auto started = WorkerHandle::start(std::move(worker));
  if (!started) return started;
  TRY((*started)->ready());
  return started;
}

Result<WrittenTurns> write_turns(const PlannedFile& file, const AudioChoice& audio, const SpeakerRun& run) {
  const auto recording = TRY(decode_recording(
      file.input, [&](Seconds) { return !run.stopped; }, {}, audio));
  const auto found = run.options.by_channel ? find_channel_speakers(file.input, audio, run.stopped)
                                            : find_recording_speakers(recording, *run.engine, run.options, run.stopped);
  if (!found) return fail_in(file.input.string(), found.error());
  TRY(run.ownership.write(file.outputs.front(), rttm_text(file.input.stem().string(), found->turns)));
  if (!run.options.save_embeddings.empty()) TRY(save_voices(run.options.save_embeddings, file.input.string(), *found));
  return WrittenTurns{recording.duration(), found->speakers};
}

}  // namespace tutti
