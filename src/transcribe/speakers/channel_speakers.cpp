#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "audio/vad/speech.h"
#include "base/field_names.h"
#include "base/try.h"
#include "transcribe/speakers/recording_speakers.h"

namespace tutti {
namespace {

constexpr std::int32_t kChannels = 2;
/// What has so many times less power in a channel than in the other one is the other one's, crossed over.
constexpr double kBleeding = 16;
constexpr int kLongestPauseMs = 250, kPadMs = 30;

struct Channel {
  std::vector<float> speech{};  // probability, of each window of kVadWindow samples
  std::vector<double> power{};  // of the same
  std::int64_t samples = 0;
};

Result<Channel> read_channel(const std::filesystem::path& path, std::int32_t number, const AudioChoice& audio,
                             const std::atomic<bool>& aborted) {
  AudioChoice choice = audio;
  choice.channel = number;
  const auto goes_on = [&](Seconds) { return !aborted; };
  const auto recording = TRY(decode_recording(path, goes_on, {}, choice));
  Channel channel{.samples = recording.samples()};
  auto speech = TRY(speech_probabilities(recording, VadOptions{}, goes_on));
  channel.speech = std::move(speech);
  std::vector<std::int16_t> samples(kVadWindow);
  for (std::size_t window = 0; window < channel.speech.size(); ++window) {
    TRY(recording.read(static_cast<std::int64_t>(window) * kVadWindow, samples));
    double power = 0;
    for (const std::int16_t sample : samples) power += static_cast<double>(sample) * sample;
    channel.power.push_back(power);
  }
  return channel;
}

}  // namespace

Result<FoundSpeakers> find_channel_speakers(const std::filesystem::path& path, const AudioChoice& audio,
                                            const std::atomic<bool>& aborted) {
  if (path == "-")
    return fail(Fault::unsupported,
                field("speakers_from") +
                    " stereo reads a recording once a channel, and this one "
                    "comes from standard input",
                "Name a file");
  std::vector<Channel> channels;
  for (std::int32_t number = 1; number <= kChannels; ++number) {
    auto channel = read_channel(path, number, audio, aborted);
    if (!channel && number > 1 && channel.error().fault == Fault::unsupported)
      return fail(Fault::unsupported, "expected two channels, one for each speaker, found one",
                  "Leave " + field("speakers_from") + " out: speakers are found by their voices then");
    if (!channel) return tl::unexpected(channel.error());
    channels.push_back(std::move(*channel));
  }
  const VadOptions rules{.min_silence_duration_ms = kLongestPauseMs, .speech_pad_ms = kPadMs};
  FoundSpeakers found;
  for (std::size_t own = 0; own < channels.size(); ++own) {
    const Channel& other = channels[1 - own];
    std::vector<float> speech = channels[own].speech;
    for (std::size_t window = 0; window < std::min(speech.size(), other.power.size()); ++window)
      if (channels[own].power[window] * kBleeding < other.power[window]) speech[window] = 0;
    SpeakerSummary summary{.speaker = speaker_label(own)};
    for (const SpeechPiece& piece : speech_pieces(speech, channels[own].samples, rules)) {
      found.turns.push_back({.start = length_of(piece.start, kModelRate).count(),
                             .end = length_of(piece.end, kModelRate).count(),
                             .speaker = summary.speaker});
      summary.seconds += found.turns.back().duration();
    }
    if (summary.seconds > 0) found.speakers.push_back(std::move(summary));
  }
  sort_by_time(found.turns);
  return found;
}

}  // namespace tutti
