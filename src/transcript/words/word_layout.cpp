#include "transcript/words/word_layout.h"

#include <optional>
#include <utility>

#include "transcript/like_python.h"

namespace tutti {
namespace {

constexpr std::size_t kUnlimited = 1000;
constexpr double kLongPause = 3.0;  // seconds that end a subtitle which may cross segments

std::optional<std::size_t> set(const std::optional<int>& value) {
  if (value.value_or(0) <= 0) return std::nullopt;
  return static_cast<std::size_t>(*value);
}

double first_time(const std::vector<Segment>& segments) {
  for (const Segment& segment : segments)
    if (!segment.words.empty()) return segment.words.front().start;
  return segments.empty() ? 0.0 : segments.front().start;
}

class WordLayout {
 public:
  WordLayout(double start, const WriterOptions& options)
      : width_(set(options.max_line_width).value_or(kUnlimited)),
        lines_(set(options.max_line_count)),
        keeps_segments_(!lines_ || !set(options.max_line_width)),
        last_(start) {}

  /// `begins_group`: the first word of a segment, or of a run of max_words_per_line in it.
  void add(Word word, bool begins_group, const std::string& speaker) {
    const bool pause = !keeps_segments_ && word.start - last_ > kLongPause;
    const bool has_room = line_length_ + characters(word.word) <= width_;
    const bool speaker_break = speaker != subtitle_.speaker;
    const bool group_break = begins_group && !subtitle_.words.empty() && (keeps_segments_ || speaker_break);
    if (line_length_ > 0 && has_room && !pause && !group_break) {
      line_length_ += characters(word.word);
    } else {
      begin_line(word, pause, group_break);
    }
    last_ = word.start;
    subtitle_.words.push_back(std::move(word));
    if (subtitle_.words.size() == 1) subtitle_.speaker = speaker;
  }

  std::vector<LaidOutWords> finish() {
    if (!subtitle_.words.empty()) done_.push_back(std::move(subtitle_));
    return std::move(done_);
  }

 private:
  void begin_line(Word& word, bool pause, bool group_break) {
    word.word = std::string(strip(word.word));
    const std::size_t length = characters(word.word);
    const bool full = lines_ && (pause || line_count_ >= *lines_);
    if ((!subtitle_.words.empty() && full) || group_break) {
      done_.push_back(std::exchange(subtitle_, {}));
      line_count_ = 1;
    } else if (line_length_ > 0) {
      ++line_count_;
      word.word.insert(0, "\n");
    }
    line_length_ = length;
  }

  std::size_t width_;
  std::optional<std::size_t> lines_;
  bool keeps_segments_;  // no subtitle spans two segments
  double last_;          // start of the word before
  std::size_t line_length_ = 0;
  std::size_t line_count_ = 1;
  LaidOutWords subtitle_{};
  std::vector<LaidOutWords> done_{};
};

}  // namespace

std::vector<LaidOutWords> lay_out_words(const std::vector<Segment>& segments, const WriterOptions& options) {
  const std::size_t group = set(options.max_words_per_line).value_or(kUnlimited);
  WordLayout layout(first_time(segments), options);
  for (const Segment& segment : segments)
    for (std::size_t i = 0; i < segment.words.size(); ++i)
      layout.add(segment.words[i], i % group == 0, segment.speaker);
  return layout.finish();
}

}  // namespace tutti
