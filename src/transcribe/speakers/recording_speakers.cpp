#include "transcribe/speakers/recording_speakers.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "audio/mel/kaldi_fbank.h"
#include "base/guarded.h"
#include "base/try.h"
#include "flow/failures.h"
#include "transcribe/remote_windows.h"

namespace tutti {
namespace {

constexpr float kFullScale = 32768;
/// Inputs of one request: enough for a device to be busy, few enough that windows of transcripts need not wait long.
constexpr std::size_t kWindowsAtOnce = 16, kPiecesAtOnce = 64;
/// Requests in flight: the next one is there when a device has done with one.
constexpr std::size_t kInFlight = 3;
/// Frames of segmentation from one window to the next: 5 s, and 1 s.
constexpr std::int64_t kStep = 296, kDenseStep = 59;

struct Request {
  AnalyzeSpeakers message{};
  std::vector<float> inputs{};
};

/// What `made(i)` come to by the engine, for i below `count`, in order.
Result<std::vector<std::vector<float>>> analyzed(WindowEngine& engine, std::size_t count,
                                                 const std::function<Result<Request>(std::size_t)>& made,
                                                 const std::atomic<bool>& aborted, Guarded<double>& seconds) {
  std::vector<std::vector<float>> answers(count);
  std::atomic<std::size_t> next{0};
  Guarded<std::optional<Error>> failed;
  const auto one = [&](std::size_t i) -> Result<void> {
    if (aborted) return fail(Fault::cancelled, "stopped");
    auto request = TRY(made(i));
    auto answer = TRY(engine.analyze_speakers(request.message, request.inputs));
    answers[i] = std::move(answer.values);
    seconds.with([&](double& all) { all += answer.seconds; });
    return {};
  };
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      const auto done = [&]() -> Result<void> {
        try {
          return one(i);
        } catch (...) {
          return tl::unexpected<Error>(error_of_exception("speakers"));
        }
      }();
      if (done) continue;
      failed.with([&](auto& first) {
        if (!first) first = done.error();
      });
      next = count;
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(count, kInFlight); ++i) others.emplace_back(work);
    work();
  }
  if (const auto error = failed.with([](const auto& first) { return first; })) return tl::unexpected(*error);
  return answers;
}

/// The number of requests of at most `most` inputs.
std::size_t requests_of(std::size_t inputs, std::size_t most) {
  return (inputs + most - 1) / most;
}

class SpeakerFinder {
 public:
  SpeakerFinder(const SampleReader& audio, WindowEngine& engine, const DiarizeOptions& options,
                const std::atomic<bool>& aborted)
      : audio_(audio), engine_(engine), options_(options), aborted_(aborted) {}

  Result<SpeechActivity> activity() const {
    const auto starts = segmentation_starts(audio_.samples(), is_dense() ? kDenseStep : kStep);
    const auto request = [&](std::size_t i) {
      const std::size_t first = i * kWindowsAtOnce;
      return windows(std::span(starts).subspan(first, std::min(kWindowsAtOnce, starts.size() - first)));
    };
    const auto answers =
        TRY(analyzed(engine_, requests_of(starts.size(), kWindowsAtOnce), request, aborted_, seconds_));
    std::vector<float> scores;
    for (const auto& answer : answers) scores.insert(scores.end(), answer.begin(), answer.end());
    const std::size_t expected = starts.size() * kSegmentationFrames * kSegmentationClasses;
    if (scores.size() != expected)
      return fail(Fault::internal,
                  "speakers: expected " + std::to_string(expected) + " scores, found " + std::to_string(scores.size()));
    return speech_activity(starts, scores, audio_.samples());
  }

  std::vector<SpeakerPiece> pieces(const SpeechActivity& activity) const {
    PieceOptions options;
    if (is_dense()) options.shift /= 2;
    return speaker_pieces(activity, speech_regions(activity), KaldiFbank::frames(audio_.samples()), options);
  }

  /// Of length 1, in the order of the pieces.
  Result<Vectors> voices(const std::vector<SpeakerPiece>& pieces) const {
    // Those of one length are computed together.
    std::vector<std::size_t> order(pieces.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return pieces[i].frames.size(); });
    const auto of_request = [&](std::size_t i) {
      const std::size_t first = i * kPiecesAtOnce;
      return std::span(order).subspan(first, std::min(kPiecesAtOnce, order.size() - first));
    };
    const auto request = [&](std::size_t i) { return features(pieces, of_request(i)); };
    auto answers = TRY(analyzed(engine_, requests_of(order.size(), kPiecesAtOnce), request, aborted_, seconds_));
    Vectors voices;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto own = of_request(i);
      std::vector<float>& values = answers[i];
      if (own.empty() || values.empty() || values.size() % own.size() != 0)
        return fail(Fault::internal, "speakers: an embedding is not whole");
      voices.dimensions = values.size() / own.size();
      voices.values.resize(pieces.size() * voices.dimensions);
      for (std::size_t k = 0; k < own.size(); ++k) {
        const auto one = std::span(values).subspan(k * voices.dimensions, voices.dimensions);
        normalise(one);
        std::ranges::copy(one, voices.values.begin() + static_cast<std::ptrdiff_t>(own[k] * voices.dimensions));
      }
    }
    return is_dense() ? averaged_with_neighbours(pieces, voices) : voices;
  }

  double device_seconds() const {
    return seconds_.with([](double all) { return all; });
  }

 private:
  bool is_dense() const { return options_.high_quality.value_or(engine_.has_gpu()); }

  Result<Request> windows(std::span<const std::int64_t> starts) const {
    Request request{.message = {.window = next_window_id(),
                                .network = "segmentation",
                                .weights = options_.weights.string(),
                                .lengths = std::vector<std::int32_t>(starts.size(), kSegmentationWindow)}};
    std::vector<std::int16_t> samples(kSegmentationWindow);
    for (const std::int64_t start : starts) {
      TRY(audio_.read(start, samples));
      for (const std::int16_t sample : samples) request.inputs.push_back(static_cast<float>(sample) / kFullScale);
    }
    return request;
  }

  Result<Request> features(const std::vector<SpeakerPiece>& pieces, std::span<const std::size_t> chosen) const {
    Request request{
        .message = {.window = next_window_id(), .network = "embedding", .weights = options_.weights.string()}};
    for (const std::size_t i : chosen) {
      const SpeakerPiece& piece = pieces[i];
      const auto fbank = TRY(fbank_.compute(audio_, piece.start, piece.end - piece.start));
      for (const std::int64_t frame : piece.frames) {
        const auto from = fbank.begin() + (frame - piece.start) * KaldiFbank::kBins;
        request.inputs.insert(request.inputs.end(), from, from + KaldiFbank::kBins);
      }
      request.message.lengths.push_back(static_cast<std::int32_t>(piece.frames.size()));
    }
    return request;
  }

  const SampleReader& audio_;
  WindowEngine& engine_;
  const DiarizeOptions& options_;
  const std::atomic<bool>& aborted_;
  const KaldiFbank fbank_{};
  mutable Guarded<double> seconds_{0};  // that devices worked
};

/// The error with the name that people know a file by.
Error named(Error error, const std::string& path, const std::string& name) {
  if (const auto at = error.what.find(path); at != std::string::npos) error.what.replace(at, path.size(), name);
  return error;
}

/// The one voice of a known speaker's clip.
Result<std::vector<float>> voice_of_clip(const KnownSpeaker& known, WindowEngine& engine, const DiarizeOptions& options,
                                         const std::atomic<bool>& aborted) {
  const std::string name = (known.held ? "the clip" : known.clip.string()) + " of speaker " + known.name;
  const auto clip = decode_recording(known.clip, [&](Seconds) { return !aborted; });
  if (!clip) return tl::unexpected(named(clip.error(), known.clip.string(), name));
  const DiarizeOptions plain{.weights = options.weights, .high_quality = options.high_quality};
  const auto found = find_recording_speakers(*clip, engine, plain, aborted);
  if (!found) return fail_in(name, found.error());
  if (found->voices.size() == 0)
    return fail(Fault::corrupt, name + ": there is no speech in it", "Name a clip of 4 to 8 s of this speaker alone");
  if (found->voices.size() > 1)
    return fail(Fault::corrupt, name + ": expected one speaker, found " + std::to_string(found->voices.size()),
                "Name a clip of 4 to 8 s of this speaker alone");
  const auto voice = found->voices[0];
  return std::vector<float>(voice.begin(), voice.end());
}

}  // namespace

Result<FoundSpeakers> find_recording_speakers(const SampleReader& audio, WindowEngine& engine,
                                              const DiarizeOptions& options, const std::atomic<bool>& aborted) {
  std::vector<KnownVoice> known;
  for (const KnownSpeaker& one : options.known) {
    if (is_speaker_label(one.name))
      return fail(Fault::usage, "speaker " + one.name + ": that is a name of speakers without a clip",
                  "Choose another name");
    auto voice = TRY(one.voice->get([&] { return voice_of_clip(one, engine, options, aborted); }));
    known.push_back({.name = one.name, .voice = std::move(voice)});
  }
  const SpeakerFinder finder(audio, engine, options, aborted);
  const auto activity = TRY(finder.activity());
  const auto pieces = finder.pieces(activity);
  const auto voices = TRY(finder.voices(pieces));
  auto found = find_speakers(activity, pieces, voices, options.count, known);
  found.device_seconds = finder.device_seconds();
  return found;
}

}  // namespace tutti
