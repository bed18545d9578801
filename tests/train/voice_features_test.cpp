#include "train/tts/voice_features.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "base/files.h"
#include "train/checkpoint/tensor_file.h"
#include "train/tts/task.h"
#include "train/voices.h"

using namespace tutti;

namespace {

struct Stage {
  explicit Stage(const TtsRecipe& recipe)
      : features(at::kCPU, voices.set, voices.waveforms, recipe,
                 VoiceModel::start(*voices.set, small_voice_shape(), 1, at::kCPU)) {}

  VoiceSpectrograms of(const std::vector<std::int64_t>& clips, std::int64_t epoch = 0, std::int64_t frames = 0) const {
    const c10::AutoGradMode no_gradients(false);
    return features(clips, epoch, frames, 32);
  }

  const Voices& voices = Voices::get();
  VoiceFeatures features;
};

TtsRecipe changing() {
  return TtsRecipe{.augmentation = {.speed_share = 1, .noise_share = 1, .room_share = 1}};
}

/// The frames of a row that are its own.
at::Tensor own(const VoiceSpectrograms& made, std::int64_t row) {
  return made.mel[row].narrow(0, 0, made.frames[static_cast<std::size_t>(row)]);
}

}  // namespace

TEST(VoiceFeatures, UnchangedClipsHaveTheSpectrogramsOfTheSet) {
  const Stage stage({});
  std::vector<std::int64_t> clips(static_cast<std::size_t>(stage.voices.set->size()));
  std::iota(clips.begin(), clips.end(), 0);
  const auto made = stage.of(clips);
  const auto& format = stage.voices.set->format();
  for (const auto clip : clips) {
    const auto expected = stage.voices.set->clip(clip);
    ASSERT_EQ(made.frames[static_cast<std::size_t>(clip)], expected.frames);
    const auto mel =
        at::tensor(std::vector<float>(expected.mel.begin(), expected.mel.end())).view({expected.frames, -1});
    const auto found = own(made, clip) * format.deviation + at::tensor(format.mean);
    EXPECT_LT((found - mel).abs().max().item<float>(), 1e-3) << clip;
    EXPECT_EQ(made.mel[clip].narrow(0, expected.frames, made.mel.size(1) - expected.frames).abs().sum().item<float>(),
              0)
        << "padding";
  }
}

TEST(VoiceFeatures, ChangesAreKeyedByEpochAndClip) {
  const Stage stage(changing());
  const std::vector<std::int64_t> clips{0, 2, 3};
  const auto first = stage.of(clips), again = stage.of(clips), next = stage.of(clips, 1);
  EXPECT_TRUE(first.mel.equal(again.mel));
  for (std::size_t row = 0; row < clips.size(); ++row) {
    const auto now = stage.features.changes_of(clips[row], 0), later = stage.features.changes_of(clips[row], 1);
    EXPECT_NE(now.speed, later.speed);
    EXPECT_NE(now.noise->key, later.noise->key);
    EXPECT_EQ(now.speed, Stage(changing()).features.changes_of(clips[row], 0).speed);
  }
  auto other = changing();
  other.arithmetic.seed = 99;
  EXPECT_NE(Stage(other).features.changes_of(0, 0).speed, stage.features.changes_of(0, 0).speed);
}

TEST(VoiceFeatures, SpeedChangesLengthsAndNoiseFillsTheQuiet) {
  const auto& set = *Voices::get().set;
  const auto fast = Stage(TtsRecipe{.augmentation = {.speed_share = 1}}).of({0, 1, 2, 3, 4, 5});
  std::int64_t changed = 0;
  for (std::int64_t row = 0; row < 6; ++row) {
    const double share =
        static_cast<double>(fast.frames[static_cast<std::size_t>(row)]) / static_cast<double>(set.frames(row));
    EXPECT_GT(share, 0.88);
    EXPECT_LT(share, 1.13);
    changed += share != 1;
  }
  EXPECT_GT(changed, 3);
  const auto plain = Stage(TtsRecipe{}).of({0}),
             noisy =
                 Stage(TtsRecipe{.augmentation = {.noise_share = 1, .noise_least_db = 0, .noise_most_db = 1}}).of({0});
  EXPECT_GT(noisy.mel.min().item<float>(), plain.mel.min().item<float>());
}

TEST(VoiceFeatures, NoClipBecomesShorterThanItsText) {
  const Stage stage(TtsRecipe{.augmentation = {.speed_share = 1}});
  const auto& voices = stage.voices;
  bool met = false;
  for (std::int64_t clip = 0; clip < voices.set->size(); ++clip)
    for (std::int64_t epoch = 0; epoch < 40; ++epoch) {
      const auto speed = stage.features.changes_of(clip, epoch).speed;
      const auto frames = samples_at_speed(voices.waveforms->samples(clip), speed) / voices.set->format().mel.hop;
      ASSERT_GE(frames, voices.set->symbols(clip));
      met = met || (clip == Voices::kTight && speed == 1);
    }
  EXPECT_TRUE(met) << "the tight clip was never drawn faster";
}

TEST(VoiceFeatures, TaskTakesThemOnTheDataDevice) {
  auto recipe = small_voice_recipe();
  recipe.data.gpu = "cpu";
  const auto& voices = Voices::get();
  auto computed = TtsTask::start(recipe, {voices.set, voices.waveforms}).value();
  recipe.data.gpu = "";
  auto stored = TtsTask::start(recipe, {voices.set}).value();
  EXPECT_EQ(computed->data_stage().cores.threads, 1) << "the other threads step";
  EXPECT_EQ(stored->data_stage().cores, ThreadCores{});
  const Batch batch{.epoch = 3, .content = SetRows{0, 1, 2}};
  const auto one = computed->prepare(batch), other = stored->prepare(batch);
  ASSERT_EQ(one.inputs.size(), other.inputs.size());
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    ASSERT_EQ(one.inputs[i].sizes(), other.inputs[i].sizes()) << i;
    EXPECT_TRUE(at::allclose(one.inputs[i].to(at::kFloat), other.inputs[i].to(at::kFloat), 0, 1e-3)) << i;
  }
  EXPECT_EQ(one.frames, other.frames);
}

TEST(VoiceModel, SpeakersOfTheSameNameKeepTheirEmbedding) {
  const auto& set = Voices::get().set;  // of ann alone
  const TempFolder folder;
  auto stored = VoiceModel::start(*set, small_voice_shape(), 1, at::kCPU);
  stored.speakers = {"ann", "bob"};
  stored.settings.resize(2);
  stored.network = new_voice_network(
      [&] {
        auto shape = stored.network.shape;
        shape.speakers = 2;
        return shape;
      }(),
      1, at::kCPU);
  for (const auto& [name, content] : stored.files("float32"))
    ASSERT_TRUE(write_file_atomically(folder / name, content));
  ASSERT_TRUE(write_tensors(folder / "model.safetensors", stored.network.all, "float32"));
  auto recipe = small_voice_recipe();
  recipe.network.model = folder.path();
  const auto task = TtsTask::start(recipe, {set}).value();
  const auto& embeddings = task->model().network.weights.speakers;
  ASSERT_EQ(embeddings.size(0), 1);
  EXPECT_TRUE(at::equal(embeddings[0].detach(), stored.network.weights.speakers[0]));
  stored.speakers = {"bob", "carl"};
  ASSERT_TRUE(write_file_atomically(folder / "config.json", stored.files("float32").at("config.json")));
  const auto other = TtsTask::start(recipe, {set}).value();
  EXPECT_TRUE(
      at::allclose(other->model().network.weights.speakers[0].detach(), stored.network.weights.speakers.mean(0)));
}
