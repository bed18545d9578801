#include "transcribe/batched_file.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"

namespace tutti {

BatchedFile::BatchedFile(DecodedFile file, std::vector<SpeechChunk> chunks, const TranscriptionContext& context)
    : file_(std::move(file)), chunks_(std::move(chunks)), context_(context) {
  for (const SpeechChunk& chunk : chunks_) speech_ += chunk.length();
  state_.with([&](State& state) { state.waiting.resize(chunks_.size()); });
}

bool BatchedFile::failed() const {
  return state_.with([](const State& state) { return state.error.has_value(); });
}

void BatchedFile::spent_on_features(Seconds time) {
  state_.with([&](State& state) { state.costs.spent.features += time; });
}

std::optional<Result<TranscribedFile>> BatchedFile::enter(std::size_t chunk, Result<ChunkOutcome> outcome) {
  const MutexLock lock(reporting_);
  News news;
  state_.change([&](State& state) { news = add(state, chunk, std::move(outcome)); });
  if (!failed()) context_.on_progress(file_.index, news.position, news.fresh);
  if (!news.complete) return std::nullopt;
  return state_.with([&](State& state) { return whole(state); });
}

BatchedFile::News BatchedFile::add(State& state, std::size_t chunk, Result<ChunkOutcome> outcome) const {
  News news;
  news.complete = ++state.entered == chunks_.size();
  if (!outcome) {
    if (!state.error) state.error = std::move(outcome.error());
    return news;
  }
  state.costs += outcome->costs;
  state.waiting[chunk] = std::move(outcome->segments);
  auto& segments = state.transcript.segments;
  const std::size_t before = segments.size();
  for (; state.next < chunks_.size() && state.waiting[state.next]; ++state.next) {
    for (Segment& segment : *state.waiting[state.next]) {
      segment.id = static_cast<std::int64_t>(segments.size());
      segments.push_back(std::move(segment));
    }
    state.waiting[state.next].emplace();
  }
  news.fresh.assign(segments.begin() + static_cast<std::ptrdiff_t>(before), segments.end());
  state.speech_done += chunks_[chunk].length();
  news.position = file_.recording.duration() * (state.speech_done / speech_);
  return news;
}

Result<TranscribedFile> BatchedFile::whole(State& state) {
  if (state.error) return tl::unexpected(*state.error);
  Transcript& transcript = state.transcript;
  std::vector<std::int32_t> tokens;
  for (const Segment& segment : transcript.segments)
    tokens.insert(tokens.end(), segment.tokens.begin(), segment.tokens.end());
  transcript.text = context_.other
                        ? joined(transcript.segments, "", [](const Segment& segment) { return segment.text; })
                        : context_.windows.tokenizer.decode(tokens);
  transcript.language = **state.language;
  TranscribedFile done = transcribed(file_, context_.way, std::move(transcript), state.costs);
  // Where both sides of a cut share a window they stand in a row in it, as if nothing had been cut.
  done.outcome.forced_cuts = static_cast<std::size_t>(
      std::ranges::count_if(chunks_, [](const SpeechChunk& chunk) { return chunk.pieces.back().forced_cut; }));
  return done;
}

}  // namespace tutti
