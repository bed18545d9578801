#include "transcribe/live/captions.h"

#include <utility>

#include "transcript/fallback.h"
#include "transcript/like_python.h"

namespace tutti {
namespace {

constexpr std::size_t kLongest = 84;   // bytes: two lines of subtitles
constexpr double kLongestSeconds = 7;  // as subtitles stay at most
constexpr double kPauseSeconds = 1;    // between two words of different segments
constexpr std::size_t kShortest = 20;  // bytes of a sentence that has a segment of its own

}  // namespace

std::vector<Segment> CaptionSegments::add(const Caption& caption) {
  std::vector<Segment> done;
  for (std::size_t i = 0; i < caption.words.size(); ++i) {
    const Word& word = caption.words[i];
    const bool is_sign = is_punctuation(word.word);
    const bool begins =
        word.word.starts_with(' ') || static_cast<unsigned char>(word.word.empty() ? 0 : word.word[0]) >= 0x80;
    const bool is_new = !is_sign && begins && !open_.text.empty() &&
                        ((ends_sentence(open_.text) && open_.text.size() >= kShortest) ||
                         open_.text.size() + word.word.size() > kLongest || word.end - open_.start > kLongestSeconds ||
                         word.start - open_.end > kPauseSeconds);
    if (is_new) complete(done);
    if (open_.text.empty()) {
      open_.start = word.start;
      open_.temperature = caption.temperature;
      open_.no_speech_prob = caption.no_speech_prob;
    }
    open_.text += word.word;
    open_.end = word.end;
    if (i >= caption.scores.size()) continue;
    score_.logprob += caption.scores[i].logprob;
    score_.tokens += caption.scores[i].tokens;
    if (score_.tokens > 0) open_.avg_logprob = score_.logprob / static_cast<double>(score_.tokens);
  }
  return done;
}

std::vector<Segment> CaptionSegments::pause() {
  std::vector<Segment> done;
  complete(done);
  return done;
}

Transcript CaptionSegments::transcript(const std::string& language) const {
  Transcript transcript{.text = {}, .segments = segments_, .language = language};
  if (!open_.text.empty()) {
    transcript.segments.push_back(open_);
    transcript.segments.back().id = std::ssize(segments_);
    transcript.segments.back().compression_ratio = compression_ratio(strip(open_.text));
  }
  for (const Segment& segment : transcript.segments) transcript.text += segment.text;
  return transcript;
}

void CaptionSegments::complete(std::vector<Segment>& out) {
  if (open_.text.empty()) return;
  open_.id = std::ssize(segments_);
  open_.compression_ratio = compression_ratio(strip(open_.text));
  segments_.push_back(open_);
  out.push_back(std::exchange(open_, {}));
  score_ = {};
}

}  // namespace tutti
