#include "cli/features_command.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "audio/log_mel.h"
#include "audio/recording.h"
#include "base/clock.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr std::int64_t kFramesPerWindow = 3000;

struct FeaturesCommand {
  std::vector<std::string> files{};
  std::int32_t mels = 80;
};

struct Measured {
  Seconds audio{};
  Seconds decoding{};
  Seconds features{};
};

template <class Fn>
auto timed(Seconds& spent, Fn&& fn) {
  const auto start = Clock::real().now();
  auto result = fn();
  spent += Clock::real().now() - start;
  return result;
}

Result<Measured> measure(const std::string& file, const LogMel& log_mel) {
  Measured measured;
  const auto recording = timed(measured.decoding, [&] { return decode_recording(file); });
  if (!recording) return tl::unexpected(recording.error());
  measured.audio = recording->duration();
  for (const auto& loss : recording->losses()) std::printf("%s: %s\n", file.c_str(), loss.c_str());

  const auto maximum = timed(measured.features, [&] { return log_mel.maximum(*recording); });
  if (!maximum) return tl::unexpected(maximum.error());
  const std::int64_t frames = LogMel::content_frames(*recording);
  std::size_t windows = 0;
  for (std::int64_t first = 0; first < frames; first += kFramesPerWindow, ++windows) {
    const auto mel = timed(measured.features, [&] {
      return log_mel.window(*recording, first, std::min(kFramesPerWindow, frames - first), *maximum);
    });
    if (!mel) return tl::unexpected(mel.error());
  }
  std::printf("%-40s %8s  %6lld frames of %d mels, %3zu windows   decoded %s×, features %s× real time\n", file.c_str(),
              length_text(measured.audio).c_str(), static_cast<long long>(frames), log_mel.n_mels(), windows,
              short_number(measured.audio / measured.decoding).c_str(),
              short_number(measured.audio / measured.features).c_str());
  return measured;
}

}  // namespace

int run_features(const std::vector<std::string>& arguments) {
  FeaturesCommand command;
  OptionTable table(
      "features", "Decode audio and compute Whisper's log-mel features: what the audio side of a transcription costs.");
  table.positional(command.files, "FILE...", "audio, or video with an audio track; - reads standard input");
  table.add("mels", command.mels, "N", "mel bins: 80, or 128 as large-v3 takes them");
  if (const auto code = start_command(table, arguments)) return *code;
  if (command.mels < 1 || command.mels > 200)
    return complain({Fault::usage, "--mels: expected 1 to 200, found " + std::to_string(command.mels)}, kUsage);

  const LogMel log_mel(command.mels);
  std::size_t failed = 0;
  Measured total;
  for (const auto& file : command.files) {
    const auto measured = measure(file, log_mel);
    if (!measured) {
      ++failed;
      complain(measured.error(), kSomeFailed);
      continue;
    }
    total.audio += measured->audio;
    total.decoding += measured->decoding;
    total.features += measured->features;
  }
  if (failed == command.files.size()) return kSomeFailed;
  std::printf("%s of audio: decoding %s s, features %s s, together %s × real time on one core\n",
              length_text(total.audio).c_str(), short_number(total.decoding.count()).c_str(),
              short_number(total.features.count()).c_str(),
              short_number(total.audio / (total.decoding + total.features)).c_str());
  return failed == 0 ? kDone : kSomeFailed;
}

}  // namespace tutti
