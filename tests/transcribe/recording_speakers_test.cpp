// How recordings are handed to the networks that find who speaks, with scripted networks.
#include "transcribe/speakers/recording_speakers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "diarize/speech_activity.h"
#include "support/environment.h"
#include "support/temp_folder.h"
#include "support/tone_file.h"
#include "transcribe/recording_job.h"

namespace tutti {
namespace {

/// One speaker in all of the audio. Counts what is analysed.
class OneSpeaker final : public WindowEngine {
 public:
  explicit OneSpeaker(bool gpu) : gpu_(gpu) {}

  Result<Opened> open(const OpenWindow&, std::span<const float>) override { return Opened{}; }
  Result<Language> detect_language(WindowId) override { return Language{}; }
  Result<Decoded> decode(const DecodeWindow&) override { return Decoded{}; }
  Result<Aligned> align(const AlignWindow&) override { return Aligned{}; }
  void release(WindowId) override {}
  bool has_gpu() const override { return gpu_; }
  Result<SpeakersAnalyzed> analyze_speakers(const AnalyzeSpeakers& request, std::span<const float>) override {
    SpeakersAnalyzed answer{.window = request.window};
    const bool embeds = request.network == "embedding";
    (embeds ? pieces : windows) += static_cast<int>(request.lengths.size());
    for (std::size_t i = 0; i < request.lengths.size(); ++i)
      if (embeds)
        answer.values.insert(answer.values.end(), 192, 1.0F);
      else
        for (std::size_t frame = 0; frame < kSegmentationFrames; ++frame)
          for (std::size_t k = 0; k < kSegmentationClasses; ++k) answer.values.push_back(k == 1 ? -0.01F : -8.0F);
    return answer;
  }

  std::atomic<int> windows{0}, pieces{0};

 private:
  const bool gpu_;
};

class RecordingSpeakers : public testing::Test {
 protected:
  std::filesystem::path tone(const std::string& name, double seconds) const {
    write_tone(folder_ / name, seconds, 200);
    return folder_ / name;
  }
  FoundSpeakers found_in(const std::filesystem::path& file, OneSpeaker& engine, const DiarizeOptions& options) const {
    const auto recording = decode_recording(file);
    EXPECT_TRUE(recording) << recording.error().text();
    const auto found = find_recording_speakers(*recording, engine, options, stopped_);
    EXPECT_TRUE(found) << found.error().text();
    return found.value_or(FoundSpeakers{});
  }

  ScopedVariable decoder_{"TUTTI_DECODER", TUTTI_BINARY_DIR "/bin/tutti"};
  const TempFolder folder_;
  const std::atomic<bool> stopped_{false};
};

TEST_F(RecordingSpeakers, HighQualityIsChosenWhereADeviceIsAGpu) {
  const auto talk = tone("talk.wav", 40);
  const auto analysed = [&](bool gpu, std::optional<bool> high_quality) {
    OneSpeaker engine(gpu);
    EXPECT_EQ(found_in(talk, engine, {.high_quality = high_quality}).speakers.size(), 1U);
    return std::pair(engine.windows.load(), engine.pieces.load());
  };
  const auto standard = analysed(false, std::nullopt), high = analysed(true, std::nullopt);
  EXPECT_EQ(standard.first, 8) << "every 5 s, and the end";
  EXPECT_GE(high.first, 30) << "every 1 s";
  EXPECT_GT(high.second, standard.second) << "twice as many pieces";
  EXPECT_EQ(analysed(true, false), standard);
  EXPECT_EQ(analysed(false, true), high);
}

TEST_F(RecordingSpeakers, AClipIsAnalysedForTheFirstRecordingOnly) {
  OneSpeaker engine(false);
  const auto talk = tone("talk.wav", 20);
  const DiarizeOptions options{.known = {{.name = "ANNA", .clip = tone("anna.wav", 6)}}};
  EXPECT_EQ(found_in(talk, engine, options).speakers.at(0).speaker, "ANNA");
  const int both = engine.windows;
  std::filesystem::remove(folder_ / "anna.wav");
  const DiarizeOptions copied = options;
  {
    std::vector<std::jthread> recordings;
    for (int i = 0; i < 4; ++i)
      recordings.emplace_back([&] { EXPECT_EQ(found_in(talk, engine, copied).speakers.at(0).speaker, "ANNA"); });
  }
  OneSpeaker alone(false);
  found_in(talk, alone, {});
  EXPECT_EQ(engine.windows, both + 4 * alone.windows) << "those of the recordings";
}

/// A recording that is fetched, and counts that.
class Fetched final : public RecordingSink {
 public:
  explicit Fetched(std::filesystem::path file) : file_(std::move(file)) {}
  Result<FetchedAudio> fetch(const ClaimedFile&) override {
    ++fetches;
    return FetchedAudio{file_};
  }
  Result<void> on_audio_decoded(std::size_t, Seconds) override { return {}; }
  const TranscriptionContext* context(std::size_t) override { return nullptr; }

  int fetches = 0;

 private:
  const std::filesystem::path file_;
};

TEST_F(RecordingSpeakers, AFetchedRecordingIsKeptForItsChannels) {
  const auto talk = tone("talk.wav", 4);
  const auto decoded = [&](bool by_channel) {
    Fetched sink(talk);
    const SpeechOptions options{.diarize = DiarizeOptions{.by_channel = by_channel}};
    const RecordingJob job{.sink = sink, .options = options, .aborted = stopped_, .is_wanted = [] { return true; }};
    auto file = job.decode({.index = 0, .input = "https://example.org/talk.wav"});
    EXPECT_TRUE(file) << file.error().text();
    EXPECT_EQ(sink.fetches, 1);
    return file->audio.path;
  };
  EXPECT_EQ(decoded(true), talk);
  EXPECT_EQ(decoded(false), "") << "its space is free once it is decoded";
}

}  // namespace
}  // namespace tutti
