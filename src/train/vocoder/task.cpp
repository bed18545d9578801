#include "train/vocoder/task.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstdlib>

#include "base/random/counter_random.h"
#include "base/try.h"
#include "model/device_name.h"

namespace tutti {
namespace {

constexpr std::int64_t kCropFrames = 64;

/// The crop of a clip from frame `first` on, written to its rows: `mel` is the crop's spectrogram, `audio` the clip's.
void fill_row(const VocoderModel& model, std::span<const float> mel, std::span<const float> audio, std::int64_t first,
              float* mel_row, float* audio_row) {
  const auto bins = model.mean.size();
  for (std::size_t i = 0; i < mel.size(); ++i) mel_row[i] = (mel[i] - model.mean[i % bins]) / model.deviation;
  const std::int64_t hop = model.mel.hop, samples = std::ssize(audio), lead = (model.mel.n_fft - hop) / 2;
  for (std::int64_t i = 0; i < vocoder_crop_samples(model.mel); ++i) {
    const auto at = std::abs(first * hop - lead + i);  // mirrored at both ends of the clip
    audio_row[i] = audio[static_cast<std::size_t>(at < samples ? at : 2 * (samples - 1) - at)];
  }
}

/// The pitch of a clip from frame `first` on, with 0 beyond its ends.
std::vector<float> pitch_from(const VoiceClip& clip, std::int64_t first, std::int64_t frames) {
  std::vector<float> pitch(static_cast<std::size_t>(frames), 0.0F);
  for (std::int64_t i = std::max<std::int64_t>(0, -first); i < std::min(frames, clip.frames - first); ++i)
    pitch[static_cast<std::size_t>(i)] = clip.pitch[static_cast<std::size_t>(first + i)];
  return pitch;
}

at::Tensor row_of(std::span<const float> samples, std::int64_t count) {
  auto row = at::empty({1, count}, at::TensorOptions(at::kFloat));
  std::copy_n(samples.data(), count, row.mutable_data_ptr<float>());
  return row;
}

}  // namespace

std::int64_t vocoder_crop_frames(const VoiceMelOptions& options) {
  constexpr std::int64_t kWidest = 4;  // times n_fft: the distances' longest window twice
  return std::max<std::int64_t>(kCropFrames, (kWidest * options.n_fft + options.hop - 1) / options.hop);
}

std::int64_t vocoder_crop_samples(const VoiceMelOptions& options) {
  return (vocoder_crop_frames(options) - 1) * options.hop + options.n_fft;
}

VocoderLoss::VocoderLoss(const VoiceMelOptions& options, at::Device device)
    : filter_(options, device), distance_(options, device), edge_(options.n_fft - options.hop) {}

at::Tensor VocoderLoss::operator()(const VocoderNetwork& network, const std::vector<at::Tensor>& inputs) const {
  constexpr double kOfMel = 0.5, kOfPitch = 0.2;
  const auto filters = filters_of(network, inputs[0]);
  const auto inside = [&](const at::Tensor& audio) { return audio.narrow(1, edge_, audio.size(1) - 2 * edge_); };
  const auto distances =
      distance_(inside(filter_.audio_of(filter_.filtered(filters, inputs[2], inputs[3]))), inside(inputs[1]));
  return distances.spectra + kOfMel * distances.mel + kOfPitch * pitch_losses(filters.pitch, inputs[4]);
}

Result<VocoderData> VocoderData::open(const std::filesystem::path& folder, const std::filesystem::path& voice) {
  auto set = TRY(VoiceSet::open(folder));
  auto waveforms = TRY(VoiceWaveforms::open(folder, *set));
  VocoderData data{.set = set, .waveforms = std::make_shared<const VoiceWaveforms>(std::move(waveforms))};
  const auto least = vocoder_crop_frames(data.set->format().mel);
  for (const auto part : {VoicePart::training, VoicePart::validation})
    for (const auto clip : data.set->part(part))
      if (data.set->frames(clip) >= least)
        (part == VoicePart::training ? data.training : data.validation).push_back(clip);
  if (data.training.empty())
    return fail(Fault::usage, folder.string() + ": the set has no clip to learn from that has " +
                                  std::to_string(least) + " frames or more");
  if (voice.empty()) return data;
  data.made = TRY(MadeSpectrograms::open(voice, data.set));
  return data;
}

std::vector<float> VocoderData::spectrogram(std::int64_t clip, std::int64_t first, std::int64_t frames) const {
  if (made) return made->of(clip, first, frames);
  const auto bins = set->format().mel.n_mels;
  const auto mel =
      set->clip(clip).mel.subspan(static_cast<std::size_t>(first * bins), static_cast<std::size_t>(frames * bins));
  return {mel.begin(), mel.end()};
}

std::uint64_t VocoderData::fingerprint() const {
  return made ? mixed({set->fingerprint(), made->fingerprint()}) : set->fingerprint();
}

Result<std::unique_ptr<VocoderTask>> VocoderTask::start(const VocoderRecipe& recipe, VocoderData data) {
  const auto device = TRY(device_named(recipe.arithmetic.device));
  auto model = VocoderModel::start(*data.set, {.width = recipe.network.width, .layers = recipe.network.layers},
                                   mixed({recipe.arithmetic.seed, digest("weights")}), device);
  for (const auto& parameter : model.network.all) at::Tensor(parameter.value).set_requires_grad(true);
  return std::unique_ptr<VocoderTask>(
      new VocoderTask(std::move(model), std::move(data), recipe.arithmetic.seed, device));
}

VocoderTask::VocoderTask(VocoderModel model, VocoderData data, std::uint64_t seed, at::Device device)
    : model_(std::move(model)), data_(std::move(data)), seed_(seed), device_(device), loss_(model_.mel, device) {}

TaskBatch VocoderTask::prepare(const Batch& batch) {
  const c10::AutoGradMode no_gradients(false);
  const auto rows = batch.size(), frames = vocoder_crop_frames(model_.mel);
  const at::TensorOptions real(at::kFloat);
  const auto& filter = loss_.filter();
  const auto samples = filter.samples(frames);
  const auto mel = at::empty({rows, frames, model_.mel.n_mels}, real), audio = at::empty({rows, samples}, real),
             pulses = at::empty({rows, samples}, real), noise = at::empty({rows, samples}, real),
             pitch = at::empty({rows, frames}, real);
  TaskBatch prepared{.targets = rows, .recordings = rows, .frames = {.computed = rows * frames}};
  std::vector<std::int64_t> clips;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto number = data_.training[static_cast<std::size_t>(batch.rows()[static_cast<std::size_t>(row)])];
    CounterRandom random({seed_, static_cast<std::uint64_t>(batch.epoch), static_cast<std::uint64_t>(number),
                          digest("crop of a vocoder")});
    const auto clip = data_.set->clip(number);
    const auto waveform = data_.waveforms->clip(number);
    if (!waveform) throw std::runtime_error(waveform.error().text());
    const auto first = random.below(clip.frames - frames + 1);
    fill_row(model_, data_.spectrogram(number, first, frames), *waveform, first, mel[row].mutable_data_ptr<float>(),
             audio[row].mutable_data_ptr<float>());
    std::ranges::copy(pitch_from(clip, first, frames), pitch[row].mutable_data_ptr<float>());
    const auto seen = pitch_from(clip, first - filter.edge(), frames + 2 * filter.edge());
    std::ranges::copy(filter.pulses(seen, random.uniform()), pulses[row].mutable_data_ptr<float>());
    std::generate_n(noise[row].mutable_data_ptr<float>(), samples, [&] { return static_cast<float>(random.normal()); });
    clips.push_back(number);
  }
  prepared.ids = RowIds(rows, [clips, set = data_.set](auto& ids) {
    for (const auto clip : clips) ids.emplace_back(set->clip(clip).name);
  });
  prepared.inputs = {mel, audio, pulses, noise, pitch};
  return prepared;
}

at::Tensor VocoderTask::loss_sum(const std::vector<at::Tensor>& inputs, bool /*dropout*/) {
  return loss_(model_.network, inputs).sum();
}

Result<CopyScores> score_copies(const VocoderData& data, std::span<const std::int64_t> clips, const MakeAudio& make,
                                const std::function<bool()>& interrupted) {
  const c10::AutoGradMode no_gradients(false);
  const SpectralDistance distance(data.set->format().mel, at::kCPU);
  CopyScores sums;
  for (const auto number : clips) {
    if (interrupted()) return fail(Fault::cancelled, "the evaluation was interrupted");
    const auto clip = data.set->clip(number);
    const auto recording = TRY(data.waveforms->clip(number));
    const auto audio = make(data.spectrogram(number, 0, clip.frames), clip.frames);
    const auto distances = distance(row_of(audio, std::ssize(audio)), row_of(recording, std::ssize(audio)));
    sums.mel += distances.mel.item<double>();
    sums.spectra += distances.spectra.item<double>();
  }
  const auto count = static_cast<double>(std::max<std::int64_t>(1, std::ssize(clips)));
  return CopyScores{sums.mel / count, sums.spectra / count};
}

}  // namespace tutti
