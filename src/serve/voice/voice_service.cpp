#include "serve/voice/voice_service.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "audio/ffmpeg/aac.h"
#include "audio/mono_audio.h"
#include "audio/synth/audio_file.h"
#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/try.h"
#include "link/query_engine.h"
#include "link/speech_command.h"
#include "text/speech/sentences.h"

namespace tutti {
namespace {

constexpr Seconds kLongest{600};                 // for one request
constexpr std::size_t kMostBytes = 256U << 20U;  // of its WAV: 4096 characters, at a quarter of the rate
constexpr std::size_t kWavHeader = 44;           // as wav_bytes() writes it
constexpr Hertz kOpenAiRate{24000};

/// A file without a name that holds `text`, and the path by which the engine opens it.
struct HandedText {
  OwnedFd file{};
  std::string path{};
};

Result<HandedText> hand_over(const std::string& text) {
  auto file = TRY(open_unnamed_file());
  TRY(write_all(file.get(), std::as_bytes(std::span(text)), "the text"));
  std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
  return HandedText{std::move(file), std::move(path)};
}

std::vector<std::int16_t> samples_of(std::string_view wav) {
  std::vector<std::int16_t> pcm((wav.size() - kWavHeader) / sizeof(std::int16_t));
  std::memcpy(pcm.data(), wav.data() + kWavHeader, pcm.size() * sizeof(std::int16_t));
  return pcm;
}

Result<std::vector<std::int16_t>> at_rate(const std::vector<std::int16_t>& pcm, Hertz from, Hertz to) {
  if (from.value == to.value) return pcm;
  constexpr float kScale = 32768;
  MonoAudio audio{.rate = from, .samples = {}};
  for (const std::int16_t sample : pcm) audio.samples.push_back(static_cast<float>(sample) / kScale);
  auto converted = TRY(MonoResampler().convert(std::move(audio), to));
  std::vector<std::int16_t> out;
  for (const float sample : converted.samples)
    out.push_back(static_cast<std::int16_t>(std::lround(std::clamp(sample * kScale, -kScale, kScale - 1))));
  return out;
}

Result<std::string> encoded(std::string wav, Hertz rate, SpokenFormat format) {
  if (format == SpokenFormat::wav) return wav;
  const auto pcm = samples_of(wav);
  if (format == SpokenFormat::mp3) return audio_bytes(pcm, AudioFormat::mp3, rate);
  if (format == SpokenFormat::aac) return aac_bytes(pcm, rate);
  if (format == SpokenFormat::flac) return audio_bytes(pcm, AudioFormat::flac, rate);
  const auto converted = TRY(at_rate(pcm, rate, kOpenAiRate));
  if (format == SpokenFormat::opus) return audio_bytes(converted, AudioFormat::opus, kOpenAiRate);
  return std::string(reinterpret_cast<const char*>(converted.data()), converted.size() * sizeof(std::int16_t));
}

/// Whatever failed in the engine or behind it: no field of the request is wrong.
tl::unexpected<ApiError> failed(const Error& error) {
  return tl::unexpected<ApiError>({.status = error.fault == Fault::cancelled ? 503 : 500,
                                   .message = "the text could not be spoken: " + error.text()});
}

}  // namespace

VoiceService::VoiceService(std::filesystem::path folder, std::vector<std::string> speakers, Hertz rate,
                           TextFrontEnd front_end)
    : folder_(std::move(folder)),
      names_(folder_.string(), folder_, {"tts-1-hd", "gpt-4o-mini-tts"}, "tts-1"),
      speakers_(std::move(speakers)),
      rate_(rate),
      front_end_(std::move(front_end)) {}

Result<VoiceService> VoiceService::open(const std::filesystem::path& folder) {
  const auto file = folder / "config.json";
  const auto content = read_regular_file(file);
  if (!content)
    return fail(Fault::missing, folder.string() + ": no voice is there",
                "Expected the folder OUT/model of 'tutti train tts --out OUT', or models/voice");
  const auto config = nlohmann::json::parse(*content, nullptr, /*allow_exceptions=*/false);
  const auto none = nlohmann::json();
  const auto& mel = config.is_object() && config.contains("mel") ? config["mel"] : none;
  const auto& speakers = config.is_object() && config.contains("speakers") ? config["speakers"] : none;
  const bool is_voice = config.is_object() && config.value("model_type", none) == "tutti-voice" && mel.is_object() &&
                        mel.value("rate", none).is_number_integer() && speakers.is_array() && !speakers.empty() &&
                        std::ranges::all_of(speakers, [](const auto& name) { return name.is_string(); });
  if (!is_voice)
    return fail(Fault::corrupt, file.string() + ": expected the configuration of a voice of 'tutti train tts'");
  auto front_end = TRY(TextFrontEnd::open(folder / TextFrontEnd::kFileName));
  return VoiceService(folder, speakers.get<std::vector<std::string>>(), Hertz{mel["rate"].get<int>()},
                      std::move(front_end));
}

tl::expected<std::vector<std::string>, ApiError> VoiceService::check_text(const std::string& text) const {
  const auto sentences = split_sentences(text, kLongestSentence);
  if (sentences.pieces.empty())
    return tl::unexpected<ApiError>({.message = "input: it has no letter and no figure", .param = "input"});
  const auto readable = readable_sentences(front_end_, sentences);
  if (!readable) return tl::unexpected<ApiError>({.message = "input: " + readable.error().text(), .param = "input"});
  std::vector<std::string> left_out(readable->skipped.begin(), readable->skipped.end());
  left_out.insert(left_out.end(), readable->left_out.begin(), readable->left_out.end());
  return left_out;
}

tl::expected<SpokenText, ApiError> VoiceService::speak(const VoiceRequest& request,
                                                       const std::function<bool()>& go_on) const {
  auto left_out = TRY(check_text(request.text));
  const auto text = hand_over(request.text);
  if (!text) return failed(text.error());
  const SpeechCommand command{.voice = folder_, .text = text->path, .speaker = request.speaker, .rate = request.rate};
  auto wav = query_engine(engine_arguments(command), {}, {.within = kLongest, .bytes = kMostBytes, .go_on = go_on});
  if (!wav) return failed(wav.error());
  if (wav->size() < kWavHeader) return failed({Fault::internal, "tutti-engine gave no audio", ""});
  auto audio = encoded(std::move(*wav), rate_, request.format);
  if (!audio) return failed(audio.error());
  return SpokenText{std::move(*audio), std::move(left_out)};
}

}  // namespace tutti
