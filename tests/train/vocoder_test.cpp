#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "train/checkpoint/folder.h"
#include "train/optimiser_step/step.h"
#include "train/tts/made_spectrograms.h"
#include "train/tts/voice_features.h"
#include "train/vocoder/source_filter.h"
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

TEST(SourceFilter, FactorsOfOneGiveThePulsesBack) {
  const SourceFilter filter(options(), at::kCPU);
  constexpr std::int64_t kFrames = 20;
  const std::vector<float> pitch(static_cast<std::size_t>(kFrames + 2 * filter.edge()), 200.0F);
  const auto pulses = at::tensor(filter.pulses(pitch, 0.25)).unsqueeze(0);
  ASSERT_EQ(pulses.size(1), filter.samples(kFrames));
  const auto factors = at::zeros({1, kFrames, 513});
  const auto inside = [](const at::Tensor& audio) { return audio.narrow(1, 900, 2500); };
  const auto off = [&](const VocoderFilters& filters, const at::Tensor& wanted) {
    const auto audio = filter.audio_of(filter.filtered(filters, pulses, at::zeros_like(pulses)));
    return inside(audio - wanted).abs().max().item<float>();
  };
  EXPECT_LT(off({.pulses = factors, .noise = factors, .turns = factors, .pitch = {}}, pulses), 1e-4);
  const auto half = factors + std::log(0.5), turned = factors + 3.14159265;
  EXPECT_LT(off({.pulses = half, .noise = factors, .turns = turned, .pitch = {}}, -0.5 * pulses), 1e-4);
}

TEST(SourceFilter, SpectraGetTheMelsThatAreWanted) {
  const SourceFilter filter(options(), at::kCPU);
  at::manual_seed(5);
  const auto spectra = at::fft_rfft(at::randn({1, 7, 1024}));
  const auto filters = voice_filter_matrix(options()).to(at::kFloat);
  const auto wanted = at::matmul(at::rand({1, 7, 513}), filters);
  const auto corrected = filter.with_mels(spectra, wanted);
  EXPECT_LT((at::matmul(corrected.abs(), filters) / wanted).log().abs().max().item<float>(), 0.05);
  EXPECT_LT((corrected.angle() - spectra.angle()).narrow(2, 1, 500).abs().max().item<float>(), 1e-4);
}

TEST(VocoderNetwork, PitchIsFoundBetweenItsClasses) {
  const auto pitch = at::tensor(std::vector<float>{0, 61, 123.4F, 210, 549}).unsqueeze(0);
  const auto logits = at::zeros({1, 5, kPitchClasses}).set_requires_grad(true);
  for (int step = 0; step < 400; ++step) {
    logits.mutable_grad() = at::Tensor();
    pitch_losses(logits, pitch).sum().backward();
    const c10::AutoGradMode no_gradients(false);
    at::Tensor(logits).sub_(10 * logits.grad());
  }
  const auto found = likeliest_pitch(logits.detach()[0]);
  EXPECT_EQ(found[0], 0);
  for (std::size_t i = 1; i < found.size(); ++i) {
    const auto wanted = pitch[0][static_cast<std::int64_t>(i)].item<float>();
    EXPECT_NEAR(found[i], wanted, 0.01 * wanted);
  }
}

TEST(VocoderModel, AudioIsAsLongAsItsFramesAndNeverChanges) {
  const auto set = data();
  const auto model = VocoderTask::start(small_recipe(), set).value();
  const auto clip = set.set->clip(0);
  const auto audio = model->model().audio_of(clip.mel, clip.frames);
  EXPECT_EQ(std::ssize(audio), clip.frames * options().hop);
  EXPECT_EQ(audio, model->model().audio_of(clip.mel, clip.frames));
  EXPECT_TRUE(model->model().audio_of({}, 0).empty());
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
