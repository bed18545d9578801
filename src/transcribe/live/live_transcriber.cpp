#include "transcribe/live/live_transcriber.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/try.h"
#include "base/units.h"
#include "transcript/fallback.h"
#include "transcript/like_python.h"
#include "transcript/window_transcriber.h"

namespace tutti {
namespace {

constexpr std::int64_t kRate = kModelRate.value;
constexpr std::int64_t kLeastWindow = kRate;        // speech that is shorter is read only where it ends
constexpr std::int64_t kPause = kRate / 2;          // silence in which text is fixed
constexpr std::int64_t kReadIntoPause = kRate / 4;  // of it that a reading must have seen to know the speech's end
constexpr double kNewest = 0.8;                     // seconds of speech whose words are fixed once there is more
constexpr std::int64_t kRestOfWindow = 2 * kRate;   // a window that has no more left is full
constexpr double kTail = 2;                         // seconds of a full window whose words need what follows
constexpr double kKept = 3;                         // seconds of fixed text that the next window begins with at least
constexpr double kSentenceWithin = 8;               // or from the last sentence's start, where it is no longer ago
constexpr std::int64_t kUnread = kRate;             // speech without any word that is worth another window ...
constexpr std::int64_t kLongUnread = 3 * kRate;     // ... and where more of it will come
constexpr std::int64_t kBeforeSpeech = 5 * kRate / 2;  // samples kept for speech that is yet to be found
constexpr std::size_t kPromptTokens = 100;             // of earlier text: a longer prompt takes longer to read
constexpr std::size_t kAnswerTokens = 128;             // positions that stay free for an answer
constexpr double kTokensPerSecond = 10;                // of the fastest speech
constexpr double kTrustedTemperature = 0.5;            // as in the sequential loop
constexpr double kStepsPerSecond = 50;
constexpr double kLeastProbability = 1e-10;  // has a logarithm

std::int64_t samples_of(std::int64_t frames) {
  return frames * kHopSamples;
}

}  // namespace

LiveTranscriber::LiveTranscriber(LiveModel model, const VadOptions& vad, CaptionListener& listener)
    : model_(std::move(model)),
      listener_(listener),
      detector_(vad),
      mels_(model_.log_mel, recording_),
      history_(initial_prompt_tokens(model_.tokenizer, model_.rules.initial_prompt), model_.rules.carry_initial_prompt,
               model_.input.n_text_ctx) {}

void LiveTranscriber::take(std::span<const std::int16_t> pcm) {
  recording_.append(pcm);
  for (const SpeechPiece& piece : detector_.feed(pcm)) pieces_.push_back(piece);
  spoken_until_ = detector_.silent_since().value_or(recording_.samples());
}

void LiveTranscriber::end() {
  for (const SpeechPiece& piece : detector_.finish()) pieces_.push_back(piece);
  ended_ = true;
}

std::optional<LiveTranscriber::Stretch> LiveTranscriber::stretch() const {
  if (!pieces_.empty()) return Stretch{pieces_.front().start, pieces_.front().end, true};
  const auto start = ended_ ? std::nullopt : detector_.open_start();
  // Of a piece whose end is not decided yet, another may already follow: its turn comes then.
  if (!start || (seek_ && *start > piece_start_)) return std::nullopt;
  return Stretch{*start, recording_.samples(), false};
}

Result<void> LiveTranscriber::advance(Seconds more) {
  for (;;) {
    const auto next = stretch();
    if (!next) break;
    const auto did = TRY(advance_once(*next, more));
    if (!did) break;
  }
  const std::int64_t needed = seek_ ? samples_of(*seek_) : recording_.samples();
  recording_.forget_before(std::max(done_until_, needed - kBeforeSpeech));
  return {};
}

Result<void> LiveTranscriber::settle() {
  if (auto done = advance(Seconds(0)); !done) return done;
  if (seek_ && settled_until_ < recording_.samples())
    if (auto done = settle_at(recording_.samples()); !done) return done;
  listener_.on_settled(taken().count(), /*is_requested=*/true);
  return {};
}

void LiveTranscriber::open_window(std::int64_t start) {
  seek_ = (std::max(start, done_until_) + kHopSamples - 1) / kHopSamples;
  read_until_ = settled_until_ = samples_of(*seek_);
}

void LiveTranscriber::close_window(std::int64_t end) {
  for (const ReadWord& word : fixed_) history_.append(word.spelled.ids);
  if (!model_.rules.condition_on_previous_text || last_temperature_ > kTrustedTemperature) history_.forget();
  fixed_.clear();
  open_.clear();
  seek_.reset();
  done_until_ = end;
}

Result<bool> LiveTranscriber::advance_once(const Stretch& stretch, Seconds more) {
  if (!seek_) {
    piece_start_ = stretch.start;
    open_window(stretch.start);
  }
  const std::int64_t from = samples_of(*seek_), window = samples_of(model_.input.frames_per_window);
  const std::int64_t end = std::min(stretch.end, from + window);
  const bool is_whole = end == stretch.end;
  const std::int64_t spoken_until = std::min(end, spoken_until_);
  const bool has_speech = spoken_until > settled_until_;
  if (!is_speaking_ && has_speech) {
    is_speaking_ = true;
    listener_.on_speech_started(seconds_of(settled_until_));
  }
  if (stretch.complete && is_whole) {
    if (has_speech) TRY(settle_at(end));
    close_window(end);
    pieces_.pop_front();
    return true;
  }
  if (end - from >= window - kRestOfWindow) {
    TRY(read(end, Fixing::all_but_tail));
    if (end - samples_of(*seek_) >= window - kRestOfWindow) cut_window(end);
    return true;
  }
  if (has_speech && end - spoken_until >= kPause) {
    TRY(settle_at(end));
    return true;
  }
  const bool has_news = spoken_until > read_until_;
  if (!has_news || end - from < kLeastWindow || end - read_until_ < samples_in(more, kModelRate)) return false;
  TRY(read(end, Fixing::agreed));
  return true;
}

/// Fixes all text before `end`. What was fixed by agreement up to the end of the speech need not be read again.
Result<void> LiveTranscriber::settle_at(std::int64_t end) {
  const std::int64_t spoken_until = std::min(end, spoken_until_);
  const bool is_read = read_until_ >= std::min(end, spoken_until + kReadIntoPause);
  if (is_read && open_.empty() && spoken_until - text_end() < kUnread) {
    report_partial(end);
  } else if (auto done = read(end, Fixing::all); !done) {
    return done;
  }
  settled_until_ = end;
  is_speaking_ = false;
  listener_.on_settled(seconds_of(end), /*is_requested=*/false);
  return {};
}

Result<void> LiveTranscriber::read(std::int64_t end, Fixing fixing) {
  const WindowSpan window{*seek_, end / kHopSamples - *seek_};
  read_until_ = end;
  if (window.frames <= 0) return {};
  ++readings_;
  const auto decoder = model_.decoder(mels_, fixing != Fixing::agreed || language_.empty());
  if (language_.empty()) {
    language_ = TRY(settle_language(model_.tokenizer.special(), model_.rules, window, *decoder));
    prompt_.emplace(model_.tokenizer, model_.rules, language_, model_.input.n_text_ctx);
  }
  const auto tokens = TRY(decode(window, *decoder, fixing != Fixing::agreed));
  auto words = TRY(words_of(tokens, window, *decoder));

  const auto spelled = [](const std::vector<ReadWord>& of) {
    std::vector<SpelledWord> out;
    for (const ReadWord& word : of) out.push_back(word.spelled);
    return out;
  };
  std::size_t fixing_words = words.size();
  if (fixing == Fixing::agreed) fixing_words = agreed_words(spelled(open_), spelled(words));
  if (fixing != Fixing::all) {
    const double last =
        fixing == Fixing::agreed ? seconds_of(std::min(end, spoken_until_)) - kNewest : seconds_of(end) - kTail;
    while (fixing_words > 0 && words[fixing_words - 1].end > last) --fixing_words;
  }
  open_ = std::move(words);
  const bool is_unread = std::min(end, spoken_until_) - text_end() >= (fixing == Fixing::all ? kUnread : kLongUnread);
  const bool leads_on = text_end() - samples_of(*seek_) >= kRate / 2;
  if (is_unread && leads_on && (fixing != Fixing::agreed || open_.empty())) {
    // The model took the text so far for all of it: what follows gets a window of its own.
    fix(open_.size(), end);
    const std::int64_t behind = text_end();
    close_window(behind);
    open_window(behind);
    return fixing == Fixing::all_but_tail ? Result<void>() : read(end, fixing);
  }
  fix(fixing_words, end);
  report_partial(end);
  return {};
}

/// Where the text of the window ends, in samples.
std::int64_t LiveTranscriber::text_end() const {
  const auto sample = [](double seconds) { return static_cast<std::int64_t>(seconds * static_cast<double>(kRate)); };
  const std::int64_t start = samples_of(*seek_);
  if (!open_.empty()) return std::max(start, sample(open_.back().end));
  return fixed_.empty() ? start : std::max(start, sample(fixed_.back().end));
}

/// The tokens behind the fixed text.
Result<std::vector<std::int32_t>> LiveTranscriber::decode(WindowSpan window, WindowDecoder& decoder, bool tries_again) {
  std::vector<std::int32_t> fixed;
  for (const ReadWord& word : fixed_) fixed.insert(fixed.end(), word.spelled.ids.begin(), word.spelled.ids.end());
  const auto context = static_cast<std::size_t>(model_.input.n_text_ctx);
  const std::size_t taken =
      prompt_->sot_sequence().size() + 2 + fixed.size() + kAnswerTokens;  // sot_prev, no_timestamps
  const auto previous = history_.next();
  const std::size_t most = std::min(kPromptTokens, context - std::min(context, taken));
  const auto latest = std::span(previous).last(std::min(previous.size(), most));
  auto request = TRY(prompt_->request_after(latest));
  request.prompt.insert(request.prompt.end(), fixed.begin(), fixed.end());
  const std::int64_t left = model_.input.n_text_ctx - std::ssize(request.prompt);
  const double open = seconds_of(samples_of(window.seek + window.frames)) -
                      std::max(fixed_.empty() ? 0.0 : fixed_.back().end, seconds_of(samples_of(window.seek)));
  const auto expected = static_cast<std::int64_t>(20 + std::max(0.0, open) * kTokensPerSecond);
  request.max_tokens = static_cast<std::int32_t>(std::min({left, expected, std::int64_t{request.max_tokens}}));
  if (request.max_tokens <= 0) return std::vector<std::int32_t>();

  const std::int32_t eot = model_.tokenizer.special().eot;
  std::vector<std::int32_t> tokens;
  for (const double temperature : model_.rules.temperatures) {
    request.temperature = temperature;
    auto answer = TRY(decoder.decode(window, request));
    tokens = std::move(answer.tokens);
    std::erase_if(tokens, [eot](std::int32_t id) { return id >= eot; });
    const WindowScores scores{compression_ratio(strip(model_.tokenizer.decode(tokens))), answer.avg_logprob,
                              answer.no_speech_prob};
    last_temperature_ = temperature;
    last_no_speech_prob_ = answer.no_speech_prob;
    if (is_silence(scores, model_.rules)) return std::vector<std::int32_t>();
    if (!needs_fallback(scores, model_.rules)) break;
    if (tries_again) continue;
    // The next reading sees more, which is worth more than another try. A loop must not be agreed on.
    const auto& most_compressed = model_.rules.compression_ratio_threshold;
    if (most_compressed && scores.compression_ratio > *most_compressed) tokens.clear();
    break;
  }
  return tokens;
}

/// The words of `tokens`, which follow the fixed text, with their times.
Result<std::vector<LiveTranscriber::ReadWord>> LiveTranscriber::words_of(std::span<const std::int32_t> tokens,
                                                                         WindowSpan window, WindowDecoder& decoder) {
  std::vector<ReadWord> words;
  if (tokens.empty()) return words;
  std::vector<std::int32_t> closed(tokens.begin(), tokens.end());
  closed.push_back(model_.tokenizer.special().eot);  // no word of the text runs on behind it
  auto spelled = split_to_words(model_.tokenizer, closed, language_);
  if (!spelled.empty()) spelled.pop_back();
  AlignRequest request{.sot_sequence = prompt_->sot_sequence()};
  for (const ReadWord& word : fixed_)
    request.text.insert(request.text.end(), word.spelled.ids.begin(), word.spelled.ids.end());
  std::size_t at = request.text.size();
  request.text.insert(request.text.end(), tokens.begin(), tokens.end());
  const auto aligned = TRY(decoder.align(window, request));
  const double origin = seconds_of(samples_of(window.seek));
  for (SpelledWord& word : spelled) {
    const std::size_t behind = at + word.ids.size();
    WordScore score{.tokens = std::ssize(word.ids)};
    for (std::size_t i = at; i < behind && i < aligned.probabilities.size(); ++i)
      score.logprob += std::log(std::max(static_cast<double>(aligned.probabilities[i]), kLeastProbability));
    words.push_back({.spelled = std::move(word),
                     .start = origin + aligned.starts[at] / kStepsPerSecond,
                     .end = origin + aligned.starts[behind] / kStepsPerSecond,
                     .score = score});
    at = behind;
  }
  return words;
}

/// Reports the first `words` of the open ones as final. None of them reaches beyond `end`.
void LiveTranscriber::fix(std::size_t words, std::int64_t end) {
  if (words == 0) return;
  Caption caption{.id = next_id_++, .temperature = last_temperature_, .no_speech_prob = last_no_speech_prob_};
  for (std::size_t i = 0; i < words; ++i) {
    ReadWord& word = open_[i];
    word.start = std::min(std::max(word.start, last_end_), std::max(last_end_, seconds_of(end)));
    word.end = std::max(word.start, std::min(word.end, seconds_of(end)));
    last_end_ = word.end;
    caption.text += word.spelled.text;
    caption.words.push_back({.word = word.spelled.text, .start = word.start, .end = word.end});
    caption.scores.push_back(word.score);
    fixed_.push_back(std::move(word));
  }
  open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(words));
  caption.start = caption.words.front().start;
  caption.end = caption.words.back().end;
  shows_partial_ = false;
  listener_.on_final(caption);
}

void LiveTranscriber::report_partial(std::int64_t end) {
  if (open_.empty() && !shows_partial_) return;
  Caption caption{.id = next_id_, .start = last_end_, .end = seconds_of(end)};
  if (!open_.empty()) caption.start = std::max(last_end_, open_.front().start);
  caption.end = std::max(caption.start, caption.end);
  for (const ReadWord& word : open_) caption.text += word.spelled.text;
  shows_partial_ = !open_.empty();
  listener_.on_partial(caption);
}

/// Begins the next window within the fixed text of a full one, so that no word is cut.
void LiveTranscriber::cut_window(std::int64_t end) {
  const double fixed_end = fixed_.empty() ? 0 : fixed_.back().end;
  std::size_t first = fixed_.size();
  while (first > 0 && fixed_end - fixed_[first - 1].start < kKept) --first;
  for (std::size_t i = first; i > 0 && fixed_end - fixed_[i].start < kSentenceWithin; --i)
    if (ends_sentence(fixed_[i - 1].spelled.text)) {
      first = i;
      break;
    }
  const auto frame =
      first < fixed_.size() ? static_cast<std::int64_t>(std::llround(fixed_[first].start * kFramesPerSecond)) : 0;
  const std::int64_t least = *seek_ + model_.input.frames_per_window / 4;
  if (frame < least) {  // hardly any text: there is nothing that another window could go on from
    fix(open_.size(), end);
    close_window(end);
    open_window(end);
    return;
  }
  for (std::size_t i = 0; i < first; ++i) history_.append(fixed_[i].spelled.ids);
  if (!model_.rules.condition_on_previous_text || last_temperature_ > kTrustedTemperature) history_.forget();
  fixed_.erase(fixed_.begin(), fixed_.begin() + static_cast<std::ptrdiff_t>(first));
  seek_ = frame;
  settled_until_ = std::max(settled_until_, samples_of(frame));
  done_until_ = samples_of(frame);
}

}  // namespace tutti
