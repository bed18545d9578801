#include "transcribe/live/keyed_transcriber.h"

#include <algorithm>
#include <utility>

#include "base/try.h"
#include "base/units.h"
#include "transcribe/mel_source.h"
#include "transcript/window_transcriber.h"

namespace tutti {
namespace {

constexpr std::int64_t kBehind = 4 * kModelRate.value;  // samples kept for words that are yet to be found

LongFormOptions with_words(LongFormOptions rules) {
  rules.words = WordRules{.reads_windows_once = true};
  return rules;
}

/// The next reading sees more, which is worth more than another try.
LongFormOptions at_once(LongFormOptions rules) {
  rules.words.reset();
  rules.temperatures.resize(std::min<std::size_t>(rules.temperatures.size(), 1));
  return rules;
}

VadOptions of_windows(VadOptions vad) {
  vad.max_speech_duration_s = std::min(vad.max_speech_duration_s, kKeyedWindow.count());
  return vad;
}

}  // namespace

KeyedTranscriber::KeyedTranscriber(LiveModel model, const VadOptions& vad, CaptionListener& listener)
    : model_(std::move(model)),
      vad_(of_windows(vad)),
      listener_(listener),
      rules_(with_words(model_.rules)),
      open_rules_(at_once(model_.rules)),
      detector_(vad_),
      scan_(vad_) {}

void KeyedTranscriber::take(std::span<const std::int16_t> pcm) {
  recording_.append(pcm);
  add(detector_.feed(pcm));
}

void KeyedTranscriber::end() {
  add(detector_.finish());
  add(scan_.finish(recording_.samples()));
  ended_ = true;
}

void KeyedTranscriber::add(std::vector<float> probabilities) {
  add(scan_.feed(probabilities));
  probabilities_.insert(probabilities_.end(), probabilities.begin(), probabilities.end());
}

/// What a settlement has cut off is not read again.
void KeyedTranscriber::add(const std::vector<SpeechPiece>& pieces) {
  for (SpeechPiece piece : pieces) {
    piece.start = std::max(piece.start, done_until_);
    piece.end = std::min(piece.end, recording_.samples());
    if (piece.start < piece.end) waiting_.push_back(piece);
  }
}

/// What is not complete, up to now: the newest of it is not known to be keyed, and neither to be silent.
std::optional<SpeechPiece> KeyedTranscriber::open_piece() const {
  if (ended_) return std::nullopt;
  const auto start = scan_.undecided_start();
  if (!start || std::max(*start, done_until_) >= recording_.samples()) return std::nullopt;
  return SpeechPiece{.start = std::max(*start, done_until_), .end = recording_.samples()};
}

/// The windows of pieces, as a recording's transcription has them.
std::vector<SpeechChunk> KeyedTranscriber::chunks_of(std::vector<SpeechPiece> pieces) const {
  const std::int64_t before = forgotten_ * kVadWindow;
  for (SpeechPiece& piece : pieces) {
    piece.start -= before;
    piece.end -= before;
  }
  auto chunks =
      keyed_chunks_of(pieces, probabilities_, static_cast<float>(vad_.threshold), model_.input.frames_per_window);
  for (SpeechChunk& chunk : chunks)
    for (SpeechPiece& piece : chunk.pieces) {
      piece.start += before;
      piece.end += before;
    }
  return chunks;
}

bool KeyedTranscriber::has_paused() const {
  if (ended_) return true;
  if (scan_.undecided_start()) return false;
  const auto since = scan_.silent_since();
  return since &&
         (forgotten_ + std::ssize(probabilities_)) * kVadWindow - *since >= samples_in(kKeyedPause, kModelRate);
}

Result<void> KeyedTranscriber::advance(Seconds more) {
  if (!is_speaking_ && (!waiting_.empty() || open_piece())) {
    is_speaking_ = true;
    listener_.on_speech_started(seconds_of(waiting_.empty() ? open_piece()->start : waiting_.front().start));
  }
  const bool pauses = has_paused();
  const auto chunks = chunks_of({waiting_.begin(), waiting_.end()});
  // The last one may still grow.
  for (std::size_t i = 0; i + (pauses ? 0 : 1) < chunks.size(); ++i) TRY(read_last(chunks[i]));
  if (pauses) {
    waiting_.clear();
    if (is_speaking_) listener_.on_settled(seconds_of(recording_.samples()), /*is_requested=*/false);
    is_speaking_ = false;
  } else if (recording_.samples() - read_until_ >= samples_in(more, kModelRate)) {
    TRY(read_open());
  }
  std::int64_t needed = recording_.samples() - kBehind;
  if (!waiting_.empty()) needed = std::min(needed, waiting_.front().start);
  if (const auto open = open_piece()) needed = std::min(needed, open->start);
  recording_.forget_before(needed);
  const std::int64_t old = std::min(needed / kVadWindow - forgotten_, std::ssize(probabilities_));
  if (old > 0) {
    probabilities_.erase(probabilities_.begin(), probabilities_.begin() + old);
    forgotten_ += old;
  }
  return {};
}

Result<void> KeyedTranscriber::settle() {
  TRY(advance(Seconds(0)));
  std::vector<SpeechPiece> pieces(waiting_.begin(), waiting_.end());
  if (const auto open = open_piece()) pieces.push_back(*open);
  for (const SpeechChunk& chunk : chunks_of(pieces)) TRY(read_last(chunk));
  waiting_.clear();
  done_until_ = recording_.samples();
  is_speaking_ = false;
  listener_.on_settled(seconds_of(recording_.samples()), /*is_requested=*/true);
  return {};
}

Result<std::vector<Segment>> KeyedTranscriber::read(const SpeechChunk& chunk, bool is_last) {
  ++readings_;
  const PackedRecording audio(recording_, chunk.pieces);
  auto mels = TRY(ChunkMel::of(audio, chunk.frames(), model_.log_mel));
  const auto decoder = model_.decoder(mels, is_last || language_.empty());
  if (language_.empty()) {
    const WindowSpan window{0, chunk.frames()};
    language_ = TRY(settle_language(model_.tokenizer.special(), model_.rules, window, *decoder));
  }
  const ChunkTranscriber transcriber(model_.input, model_.tokenizer, is_last ? rules_ : open_rules_, language_);
  auto segments = TRY(transcriber.transcribe(chunk.frames(), *decoder));
  end_with_audio(segments, chunk.length());
  restore_times(segments, SpeechMap(chunk.pieces));
  return segments;
}

/// Reads a window whose text is final then.
Result<void> KeyedTranscriber::read_last(const SpeechChunk& chunk) {
  const auto segments = TRY(read(chunk, /*is_last=*/true));
  report(segments);
  read_until_ = done_until_ = chunk.pieces.back().end;
  while (!waiting_.empty() && waiting_.front().end <= done_until_) waiting_.pop_front();
  return {};
}

Result<void> KeyedTranscriber::read_open() {
  std::vector<SpeechPiece> pieces(waiting_.begin(), waiting_.end());
  const auto open = open_piece();
  if (open) pieces.push_back(*open);
  if (pieces.empty() || pieces.back().end <= read_until_) return {};
  read_until_ = pieces.back().end;
  std::string text;
  for (const SpeechChunk& chunk : chunks_of(pieces))
    for (const Segment& segment : TRY(read(chunk, /*is_last=*/false))) text += segment.text;
  show(std::move(text), seconds_of(pieces.back().end));
  return {};
}

void KeyedTranscriber::report(const std::vector<Segment>& segments) {
  Caption caption{.id = next_id_};
  for (const Segment& segment : segments) {
    caption.temperature = segment.temperature;
    caption.no_speech_prob = segment.no_speech_prob;
    for (Word word : segment.words) {
      word.start = std::max(word.start, last_end_);
      word.end = last_end_ = std::max(word.end, word.start);
      caption.text += word.word;
      caption.words.push_back(std::move(word));
      caption.scores.push_back({.logprob = segment.avg_logprob, .tokens = 1});
    }
  }
  if (caption.words.empty()) return show("", last_end_);
  ++next_id_;
  caption.start = caption.words.front().start;
  caption.end = caption.words.back().end;
  shows_partial_ = false;
  listener_.on_final(caption);
}

/// Text that may change.
void KeyedTranscriber::show(std::string text, double end) {
  if (text.empty() && !shows_partial_) return;
  shows_partial_ = !text.empty();
  double start = last_end_;
  if (!waiting_.empty()) start = std::max(start, seconds_of(waiting_.front().start));
  listener_.on_partial(Caption{.id = next_id_, .start = start, .end = std::max(start, end), .text = std::move(text)});
}

}  // namespace tutti
