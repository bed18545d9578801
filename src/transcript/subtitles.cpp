#include "transcript/subtitles.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "transcript/like_python.h"
#include "transcript/transcript.h"
#include "transcript/writers.h"

namespace tutti {
namespace {

/// The words of one subtitle.
struct LaidOutWords {
  std::vector<Word> words{};  // never empty
  std::string speaker{};      // speaker of all these words; empty: not known
};

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

/// The words of every subtitle with their whitespace as it is to be shown: a word that begins a line has lost its
/// leading space and, inside a subtitle, carries a line feed in front (openai-whisper 20250625, utils.py,
/// SubtitlesWriter.iterate_result). Where the speaker changes, a new subtitle begins.
std::vector<LaidOutWords> lay_out_words(const std::vector<Segment>& segments, const WriterOptions& options) {
  const std::size_t group = set(options.max_words_per_line).value_or(kUnlimited);
  WordLayout layout(first_time(segments), options);
  for (const Segment& segment : segments)
    for (std::size_t i = 0; i < segment.words.size(); ++i)
      layout.add(segment.words[i], i % group == 0, segment.speaker);
  return layout.finish();
}

bool writable(double seconds) {
  return std::isfinite(seconds) && seconds >= 0;
}

tl::unexpected<Error> bad_time(const Segment& segment, double seconds) {
  return fail(Fault::corrupt, "segment " + std::to_string(segment.id) + ": expected times from 0 on, found " +
                                  float_text(seconds) + " s");
}

/// Subtitle formats cannot say a time before the start.
Result<void> check_times(const Transcript& transcript) {
  for (const Segment& segment : transcript.segments) {
    for (const double at : {segment.start, segment.end})
      if (!writable(at)) return bad_time(segment, at);
    for (const Word& word : segment.words)
      for (const double at : {word.start, word.end})
        if (!writable(at)) return bad_time(segment, at);
  }
  return {};
}

std::vector<Subtitle> by_segment(const Transcript& transcript, SubtitleClock clock) {
  std::vector<Subtitle> out;
  for (const Segment& segment : transcript.segments)
    out.push_back({clock_text(segment.start, clock), clock_text(segment.end, clock),
                   speaker_prefix(segment.speaker) + replaced(strip(segment.text), "-->", "->")});
  return out;
}

/// `word` underlined, the whitespace before it not; a word that is several lines stays as it is.
std::string underlined(const std::string& word) {
  const std::string_view lead = leading_space(word);
  std::string_view rest = std::string_view(word).substr(lead.size());
  const bool closes_line = rest.ends_with('\n');
  if (closes_line) rest.remove_suffix(1);
  if (rest.find('\n') != std::string_view::npos) return word;
  return std::string(lead) + "<u>" + std::string(rest) + "</u>" + (closes_line ? "\n" : "");
}

std::string joined(const std::vector<Word>& words, std::size_t marked) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) text += i == marked ? underlined(words[i].word) : words[i].word;
  return text;
}

/// The whole text for as long as no word is spoken, and once per word with that word marked.
void append_highlighted(std::vector<Subtitle>& out, const LaidOutWords& laid_out, SubtitleClock clock) {
  const std::vector<Word>& words = laid_out.words;
  const std::string prefix = speaker_prefix(laid_out.speaker);
  const std::string plain = prefix + joined(words, words.size());
  std::string last = clock_text(words.front().start, clock);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string start = clock_text(words[i].start, clock);
    const std::string end = clock_text(words[i].end, clock);
    if (last != start) out.push_back({last, start, plain});
    out.push_back({start, end, prefix + joined(words, i)});
    last = end;
  }
}

std::vector<Subtitle> by_word(const Transcript& transcript, SubtitleClock clock, const WriterOptions& options) {
  std::vector<Subtitle> out;
  for (const LaidOutWords& laid_out : lay_out_words(transcript.segments, options)) {
    const std::vector<Word>& words = laid_out.words;
    if (options.highlight_words) {
      append_highlighted(out, laid_out, clock);
    } else {
      out.push_back({clock_text(words.front().start, clock), clock_text(words.back().end, clock),
                     speaker_prefix(laid_out.speaker) + joined(words, words.size())});
    }
  }
  return out;
}

}  // namespace

std::string speaker_prefix(const std::string& speaker) {
  return speaker.empty() ? speaker : "[" + speaker + "]: ";
}

std::string clock_text(double seconds, SubtitleClock clock) {
  const auto total = std::llround(round_even(seconds * 1000.0));
  std::array<char, 64> text{};
  const auto hours = total / 3'600'000;
  if (clock.hours_always || hours > 0) std::snprintf(text.data(), text.size(), "%02lld:", hours);
  std::string out = text.data();
  std::snprintf(text.data(), text.size(), "%02lld:%02lld%c%03lld", total / 60'000 % 60, total / 1'000 % 60,
                clock.decimal_mark, total % 1'000);
  return out + text.data();
}

Result<std::vector<Subtitle>> subtitles(const Transcript& transcript, SubtitleClock clock,
                                        const WriterOptions& options) {
  TRY(check_times(transcript));
  return has_word_times(transcript) ? by_word(transcript, clock, options) : by_segment(transcript, clock);
}

}  // namespace tutti
