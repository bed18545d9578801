#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "audio/vocoder/griffin_lim.h"
#include "train/checkpoint/folder.h"
#include "train/optimiser_step/step.h"
#include "train/tts/made_spectrograms.h"
#include "train/vocoder/spectral_distance.h"
#include "train/vocoder/task.h"
#include "train/voices.h"

using namespace tutti;

namespace {

VoiceMelOptions options() {
  return usual_voice_mel(Hertz{16000});
}

std::vector<float> samples_of(const at::Tensor& audio) {
  const auto flat = audio.contiguous().flatten();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

VocoderData data() {
  return VocoderData::open(Voices::get().folder / "set").value();
}

/// The folder of an untrained voice of the set.
std::filesystem::path untrained_voice(std::uint64_t seed) {
  const auto& voices = Voices::get();
  const auto folder = voices.folder / ("voice " + std::to_string(seed));
  const auto model = VoiceModel::start(*voices.set, small_voice_shape(), seed, at::kCPU);
  EXPECT_TRUE(
      write_network(folder, {.files = model.files("float32"), .weights = model.network.all, .weight_type = "float32"}));
  return folder;
}

VocoderRecipe small_recipe() {
  return VocoderRecipe{.network = {.width = 16, .layers = 1}, .batches = {.size = 4}, .arithmetic = {.device = "cpu"}};
}

}  // namespace

TEST(SpectralDistance, TwiceAsLoudIsTheLogarithmOfTwoFromTheSame) {
  const SpectralDistance distance(options(), at::kCPU);
  at::manual_seed(3);
  const auto audio = 0.1 * at::randn({2, 12800});
  const auto same = distance(audio, audio), louder = distance(2 * audio, audio);
  EXPECT_EQ(same.mel.abs().max().item<float>() + same.spectra.abs().max().item<float>(), 0);
  for (std::int64_t row = 0; row < 2; ++row) {
    EXPECT_NEAR(louder.mel[row].item<float>(), std::log(2), 1e-3);
    EXPECT_NEAR(louder.spectra[row].item<float>(), 1 + std::log(2), 1e-3);
  }
}

TEST(GriffinLim, KnownMagnitudesComeCloserThanMelsAlone) {
  const auto set = data();
  const auto clip = set.set->clip(set.training[1]);
  const auto recording = *set.waveforms->clip(set.training[1]);
  const std::int64_t crop = clip.frames - 8, samples = crop * options().hop, first = 4 * options().hop;
  const auto whole = at::tensor(std::vector<float>(recording.begin(), recording.end())).unsqueeze(0);
  const auto seen =
      whole.narrow(1, first - (options().n_fft - options().hop) / 2, (crop - 1) * options().hop + options().n_fft);
  const auto window = at::tensor(voice_window(options()));
  const auto known = samples_of(at::fft_rfft(seen.unfold(1, options().n_fft, options().hop) * window).abs() + 1e-6);
  const auto mel = clip.mel.subspan(4 * 80, static_cast<std::size_t>(crop) * 80);
  const GriffinLim griffin_lim(options());
  const SpectralDistance distance(options(), at::kCPU);
  const auto to_recording = [&](const std::vector<float>& audio) {
    return distance(at::tensor(audio).unsqueeze(0), whole.narrow(1, first, samples)).spectra.item<float>();
  };
  EXPECT_LT(to_recording(griffin_lim.audio_of(mel, crop, known)), 0.8 * to_recording(griffin_lim.audio_of(mel, crop)));
}

TEST(VocoderTask, StepsComeCloserToTheRecordings) {
  auto task = VocoderTask::start(small_recipe(), data()).value();
  const auto loss = [&] {
    const c10::AutoGradMode no_gradients(false);
    return task->loss_sum(task->prepare({.content = SetRows{0, 1}}).inputs, false).item<float>();
  };
  const auto before = loss();
  TrainStep step(*task, {}, {.seed = 1});
  for (std::int64_t number = 1; number <= 12; ++number) {
    const std::vector<TaskBatch> group{task->prepare({.index = number, .epoch = number, .content = SetRows{0, 1}})};
    EXPECT_TRUE(step.run(group, number, 1e-2).finite);
  }
  EXPECT_LT(loss(), 0.7 * before);
}

TEST(CopyScores, RecordingItselfIsAtNoDistance) {
  const auto set = data();
  std::size_t next = 0;
  const auto itself = [&](auto, std::int64_t frames) {
    const auto clip = *set.waveforms->clip(set.training[next++]);
    return std::vector<float>(clip.begin(), clip.begin() + frames * options().hop);
  };
  const auto scores = score_copies(set, set.training, itself, [] { return false; }).value();
  EXPECT_EQ(scores.mel + scores.spectra, 0);
  const auto cut_short = score_copies(set, set.training, itself, [] { return true; });
  ASSERT_FALSE(cut_short);
  EXPECT_EQ(cut_short.error().fault, Fault::cancelled);
}

TEST(VocoderTask, CropsHaveTheSpectrogramOfTheirSamples) {
  const auto set = data();
  auto task = VocoderTask::start(small_recipe(), set).value();
  const auto batch = task->prepare({.epoch = 3, .content = SetRows{0}});
  const auto crop = vocoder_crop_frames(options());
  const auto lead = (options().n_fft - options().hop) / 2;
  const auto audio = batch.inputs[1].narrow(1, lead, crop * options().hop);
  const auto whole = VoiceMel(options()).compute(samples_of(audio[0]));
  const auto computed = at::tensor(whole).view({crop, -1});
  const auto& model = task->model();
  const auto given = batch.inputs[0][0] * model.deviation + at::tensor(model.mean);
  const auto inside = (given - computed).narrow(0, 3, crop - 6).abs().max().item<float>();
  EXPECT_LT(inside, 1e-2) << "frames that see the crop alone";
}

TEST(MadeSpectrograms, LastAsLongAsTheRecordingsAndAreTheSameAtEveryCall) {
  const auto set = Voices::get().set;
  const auto made = MadeSpectrograms::open(untrained_voice(1), set).value();
  for (const std::int64_t clip : {std::int64_t{0}, Voices::kTight}) {
    const auto frames = set->frames(clip);
    const auto first = made->of(clip, 0, frames);
    EXPECT_EQ(std::ssize(first), frames * 80);
    EXPECT_EQ(made->of(clip, 0, frames), first);
    EXPECT_EQ(made->of(clip, 2, 3), std::vector<float>(first.begin() + 2 * 80, first.begin() + 5 * 80));
    EXPECT_EQ(MadeSpectrograms::open(untrained_voice(1), set).value()->of(clip, 0, frames), first);
  }
}

TEST(VocoderTask, VoiceMakesTheSpectrogramsThatItLearnsFrom) {
  const auto folder = Voices::get().folder / "set";
  const auto own = data(), made = VocoderData::open(folder, untrained_voice(1)).value();
  auto task = VocoderTask::start(small_recipe(), made).value();
  auto beside = VocoderTask::start(small_recipe(), own).value();
  const auto inputs = task->prepare({.content = SetRows{0}}).inputs,
             others = beside->prepare({.content = SetRows{0}}).inputs;
  EXPECT_TRUE(at::equal(inputs[1], others[1])) << "the same crop of the recording";
  EXPECT_FALSE(at::equal(inputs[0], others[0]));
  EXPECT_NE(made.fingerprint(), own.fingerprint());
  EXPECT_NE(made.fingerprint(), VocoderData::open(folder, untrained_voice(2)).value().fingerprint());
  const auto absent = VocoderData::open(folder, folder / "none");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().fault, Fault::missing);
}
