#include "train/tts/made_spectrograms.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <span>
#include <string_view>

#include "base/random/counter_random.h"
#include "base/try.h"
#include "train/tts/losses.h"
#include "train/tts/task.h"
#include "train/tts/voice.h"

namespace tutti {
namespace {

std::uint64_t digest_of(const VoiceModel& model) {
  std::uint64_t all = digest("voice");
  for (const auto& parameter : model.network.all) {
    const auto values = parameter.value.detach().contiguous();
    all = mixed({all, digest({static_cast<const char*>(values.const_data_ptr()), values.nbytes()})});
  }
  return all;
}

}  // namespace

Result<std::shared_ptr<MadeSpectrograms>> MadeSpectrograms::open(const std::filesystem::path& voice,
                                                                 std::shared_ptr<const VoiceSet> set) {
  auto model = TRY(VoiceModel::load(voice, at::kCPU));
  TRY(model.expect_form_of(*set, voice));
  std::vector<std::int64_t> speakers;
  for (const auto& name : set->format().speakers) {
    const auto speaker = model.speaker_named(name);
    if (!speaker) return fail_in(voice.string(), speaker.error());
    speakers.push_back(*speaker);
  }
  const auto fingerprint = digest_of(model);
  return std::shared_ptr<MadeSpectrograms>(
      new MadeSpectrograms(std::move(model), std::move(set), std::move(speakers), fingerprint));
}

std::vector<float> MadeSpectrograms::of(std::int64_t clip, std::int64_t first, std::int64_t frames) {
  at::Tensor mel;
  {
    const MutexLock lock(mutex_);
    if (const auto kept = kept_.find(clip); kept != kept_.end()) mel = kept->second;
  }
  if (!mel.defined()) {
    mel = made(clip).to(at::kHalf);
    const MutexLock lock(mutex_);
    kept_.emplace(clip, mel);
  }
  const auto values = mel.narrow(0, first, frames).to(at::kFloat).contiguous();
  return {values.const_data_ptr<float>(), values.const_data_ptr<float>() + values.numel()};
}

at::Tensor MadeSpectrograms::made(std::int64_t clip) const {
  const c10::AutoGradMode no_gradients(false);
  auto rows = rows_of(*set_, model_, std::span(&clip, 1));
  rows.speakers.fill_(speakers_[static_cast<std::size_t>(set_->clip(clip).speaker)]);
  const auto text = encode_text(model_.network, rows.symbols, rows.symbol_counts, rows.speakers);
  return spectrogram_in_time(model_, text, searched_durations(text.mean, rows),
                             {.seed = static_cast<std::uint64_t>(clip)});
}

}  // namespace tutti
