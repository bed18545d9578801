#include "transcribe/remote_windows.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>

#include "base/clock.h"
#include "base/field_names.h"
#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"
#include "transcribe/keyed_times.h"

namespace tutti {
namespace {

/// A stream of samples of its own for every window and temperature (splitmix64's finaliser over the three numbers).
std::uint64_t seed_of(std::uint64_t seed, std::int64_t seek, double temperature) {
  return finalised(seed * kSplitMixStep + static_cast<std::uint64_t>(seek) * 1000 +
                   static_cast<std::uint64_t>(std::llround(temperature * 100)));
}

Seconds since(Clock::Instant start) {
  return Clock::real().now() - start;
}

/// Every language of the answer, the most probable first; of equal ones in the answer's order.
Result<std::vector<LanguageProbability>> by_probability(const Language& guess, const SpecialTokens& special) {
  std::vector<LanguageProbability> languages;
  for (std::size_t i = 0; i < guess.probabilities.size(); ++i) {
    const auto known = std::find(special.languages.begin(), special.languages.end(), guess.tokens[i]);
    if (known == special.languages.end())
      return fail(Fault::internal,
                  "the worker named language token " + std::to_string(guess.tokens[i]) + ", which the tokenizer lacks");
    languages.push_back(
        {special.language_codes[static_cast<std::size_t>(known - special.languages.begin())], guess.probabilities[i]});
  }
  std::ranges::stable_sort(languages, std::greater(), &LanguageProbability::probability);
  return languages;
}

/// Encoder positions that suffice for a window; 0: the model's.
std::int32_t positions_of(WindowSpan window, const std::optional<ShortWindows>& shortened) {
  constexpr std::int64_t kTogether = 32;  // rows that the encoder computes together
  if (!shortened) return 0;
  const auto margin = static_cast<std::int64_t>(std::llround(shortened->margin.count() * kFramesPerSecond));
  const std::int64_t positions = rounded_up((window.frames + margin + 1) / 2, kTogether);
  return 2 * positions < shortened->frames_per_window ? static_cast<std::int32_t>(positions) : 0;
}

bool is_same(WindowSpan known, WindowSpan window) {
  return known.seek == window.seek && known.frames == window.frames;
}

std::vector<std::string_view> bytes_of(const std::vector<std::int32_t>& ids, const Tokenizer& tokenizer) {
  std::vector<std::string_view> tokens;
  for (const std::int32_t id : ids) tokens.push_back(tokenizer.bytes_of(id));
  return tokens;
}

}  // namespace

WindowId next_window_id() {
  static std::atomic<WindowId> last{0};
  return ++last;
}

Result<void> check_suppressed(const std::vector<std::int32_t>& named, std::optional<std::int64_t> vocabulary) {
  for (const std::int32_t id : named) {
    if (id < -1)
      return fail(Fault::usage, field("suppress_tokens") +
                                    ": expected token ids, or -1 for the non-speech symbols, found " +
                                    std::to_string(id));
    if (vocabulary && id >= *vocabulary)
      return fail(Fault::usage,
                  field("suppress_tokens") + ": token " + std::to_string(id) +
                      ": the model has no such token, its vocabulary has " + std::to_string(*vocabulary),
                  "Its tokens are 0 to " + std::to_string(*vocabulary - 1));
  }
  return {};
}

std::vector<std::int32_t> suppressed_tokens(const Tokenizer& tokenizer, const std::vector<std::int32_t>& named) {
  const SpecialTokens& special = tokenizer.special();
  std::vector<std::int32_t> ids;
  for (const std::int32_t id : named)
    if (id >= 0) ids.push_back(id);
  if (std::find(named.begin(), named.end(), -1) != named.end())
    for (const std::int32_t id : tokenizer.non_speech_tokens()) ids.push_back(id);
  for (const std::int32_t id :
       {special.transcribe, special.translate, special.sot, special.sot_prev, special.sot_lm, special.no_speech})
    ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

WindowCosts& WindowCosts::operator+=(const WindowCosts& other) {
  counts += other.counts;
  spent += other.spent;
  return *this;
}

void RemoteWindows::release() {
  if (span_) service_.engine.release(window_);
  span_.reset();
}

Result<void> RemoteWindows::open(WindowSpan window) {
  if (span_ && is_same(*span_, window)) return {};
  release();
  const auto start = Clock::real().now();
  auto mel = mels_.window(window);
  costs_.spent.features += since(start);
  if (!mel) return tl::unexpected(mel.error());

  const auto requested = Clock::real().now();
  const WindowId id = next_window_id();
  const OpenWindow facts{.window = id,
                         .n_mels = mels_.n_mels(),
                         .frames = static_cast<std::int32_t>(window.frames),
                         .positions = positions_of(window, service_.shortened)};
  const auto answer = TRY(service_.engine.open(facts, *mel));
  const Seconds encoder(answer.encode_seconds);
  costs_.spent.encoder += encoder;
  costs_.spent.waiting += std::max(Seconds(0), since(requested) - encoder);
  ++costs_.counts.windows;
  window_ = id;
  span_ = window;
  if (service_.keyed_tone) mel_ = std::move(*mel);
  return {};
}

Result<std::string> RemoteWindows::detect_language(WindowSpan window) {
  TRY(open(window));
  const auto guess = TRY(service_.engine.detect_language(window_));
  const auto languages = TRY(by_probability(guess, service_.tokenizer.special()));
  if (languages.empty())
    return fail(Fault::usage, "this model knows no languages", "Name the language with " + field("language"));
  if (service_.on_language) (*service_.on_language)({.language = languages.front(), .all = languages});
  return languages.front().code;
}

Result<WindowSpan> RemoteWindows::fitting(WindowSpan window) {
  if (!service_.keyed_tone) return window;
  const auto start = Clock::real().now();
  auto read = TRY(mels_.read_keying(window));
  costs_.spent.features += since(start);
  read_span_ = {window.seek, read.samples / kHopSamples};
  morse_ = std::move(read.morse);
  if (morse_) ++costs_.counts.windows;
  return read_span_;
}

DecodeAnswer RemoteWindows::decoded_morse() const {
  if (morse_->empty()) return {.no_speech_prob = 1, .is_exact = true};
  DecodeAnswer answer{.tokens = service_.tokenizer.encode(text_of(*morse_)), .is_exact = true};
  const auto aligned = aligned_reading(*morse_, read_span_.frames, bytes_of(answer.tokens, service_.tokenizer));
  for (const float probability : aligned.probabilities) answer.token_logprobs.push_back(std::log(probability));
  double sum = 0;
  for (const float logprob : answer.token_logprobs) sum += logprob;
  answer.token_logprobs.push_back(0);                                            // that the text ends there
  answer.avg_logprob = sum / static_cast<double>(answer.token_logprobs.size());  // the end counts, as of a model's text
  if (!service_.decoding.token_logprobs) answer.token_logprobs.clear();
  return answer;
}

Result<DecodeAnswer> RemoteWindows::decode(WindowSpan window, const DecodeRequest& request) {
  if (morse_ && is_same(read_span_, window)) return decoded_morse();
  TRY(open(window));
  DecodingOptions decoding = service_.decoding;
  decoding.seed = seed_of(decoding.seed, origin_ + window.seek, request.temperature);
  const auto requested = Clock::real().now();
  auto answer = TRY(service_.engine.decode({.window = window_,
                                            .request = ++requests_,
                                            .prompt = request.prompt,
                                            .sot_index = request.sot_index,
                                            .temperature = static_cast<float>(request.temperature),
                                            .max_tokens = request.max_tokens,
                                            .decoding = std::move(decoding)}));
  const Seconds decoder(answer.seconds);
  costs_.spent.decoder += decoder;
  costs_.spent.waiting += std::max(Seconds(0), since(requested) - decoder);
  costs_.counts += {.decodings = 1,
                    .decoder_steps = static_cast<std::size_t>(answer.steps),
                    .narrow_margins = static_cast<std::size_t>(answer.narrow_margins),
                    .sequence_steps = static_cast<std::size_t>(answer.sequence_steps),
                    .batch_steps = answer.shared_steps};
  return DecodeAnswer{.tokens = std::move(answer.tokens),
                      .avg_logprob = answer.avg_logprob,
                      .no_speech_prob = answer.no_speech_prob,
                      .token_logprobs = std::move(answer.token_logprobs)};
}

Result<AlignAnswer> RemoteWindows::align(WindowSpan window, const AlignRequest& request) {
  const auto tokens = bytes_of(request.text, service_.tokenizer);
  if (morse_ && is_same(read_span_, window) && joined(tokens, "") == text_of(*morse_))
    return aligned_reading(*morse_, window.frames, tokens);
  TRY(open(window));
  const auto requested = Clock::real().now();
  auto answer = TRY(service_.engine.align({.window = window_,
                                           .request = ++requests_,
                                           .sot_sequence = request.sot_sequence,
                                           .text_tokens = request.text,
                                           .frames = static_cast<std::int32_t>(window.frames)}));
  const Seconds decoder(answer.seconds);
  costs_.spent.decoder += decoder;
  costs_.spent.waiting += std::max(Seconds(0), since(requested) - decoder);
  AlignAnswer aligned{.starts = std::move(answer.starts), .probabilities = std::move(answer.probabilities)};
  if (!service_.keyed_tone) return aligned;
  const auto times = times_of_keying(mel_, static_cast<std::size_t>(mels_.n_mels()), joined(tokens, ""));
  set_times_of_keying(times, window.frames, tokens, aligned);
  return aligned;
}

}  // namespace tutti
