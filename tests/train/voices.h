#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "feed/voice/clip_maker.h"
#include "feed/voice/voice_set.h"
#include "feed/voice/voice_waveforms.h"
#include "feed/voice/voice_writer.h"
#include "recipe/tts_recipe.h"
#include "support/temp_folder.h"
#include "train/tts/voice_shape.h"

namespace tutti {

/// A set of a voice with waveforms: a dozen chirps of half a second to a second. Made once for all tests of a process.
struct Voices {
  static constexpr std::int64_t kClips = 12;
  static constexpr std::int64_t kTight = 1;  ///< the clip with as many symbols as frames

  static const Voices& get() {
    static const Voices voices;
    return voices;
  }

  TempFolder folder{};
  std::shared_ptr<const VoiceSet> set{};
  std::shared_ptr<const VoiceWaveforms> waveforms{};

 private:
  Voices() {
    const ClipMaker maker(usual_voice_mel(Hertz{16000}), {});
    auto writer = VoiceSetWriter::create(folder / "set", maker.mel().options(), /*waveforms=*/true).value();
    for (std::int64_t number = 0; number < kClips; ++number) EXPECT_TRUE(writer->append(clip(maker, number)));
    EXPECT_TRUE(writer->publish(
        {.symbols = {"_", "a", "b"}, .speakers = {"ann"}, .language = "en", .kind = "characters"}, "front end"));
    set = VoiceSet::open(folder / "set").value();
    waveforms = std::make_shared<const VoiceWaveforms>(VoiceWaveforms::open(folder / "set", *set).value());
  }

  static NewVoiceClip clip(const ClipMaker& maker, std::int64_t number) {
    std::vector<float> audio(static_cast<std::size_t>(8000 + 711 * number));
    for (std::size_t i = 0; i < audio.size(); ++i) {
      const double t = static_cast<double>(i) / 16000;
      audio[i] = static_cast<float>(0.3 * std::sin(6.28 * (150 + 20 * static_cast<double>(number) + 900 * t) * t));
    }
    auto made = maker.features(std::move(audio), "clip " + std::to_string(number));
    made.symbols.assign(number == kTight ? made.pitch.size() : 9, 1);
    made.part = number == kClips - 1 ? VoicePart::validation : VoicePart::training;
    return made;
  }
};

/// A training on the processor of a network that steps in milliseconds.
inline TtsRecipe small_voice_recipe() {
  return TtsRecipe{.network = {.width = 16, .encoder_layers = 1, .decoder_width = 16, .decoder_layers = 1},
                   .batches = {.size = 4},
                   .arithmetic = {.device = "cpu"}};
}

/// Such a network.
inline VoiceShape small_voice_shape() {
  return {.symbols = 3,
          .speakers = 1,
          .mels = 80,
          .width = 16,
          .layers = 1,
          .heads = 2,
          .inner = 24,
          .duration_width = 12,
          .decoder_width = 20,
          .decoder_layers = 1,
          .decoder_inner = 28};
}

}  // namespace tutti
