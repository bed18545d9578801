#include "transcript/subtitles.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "transcript/like_python.h"
#include "transcript/words/word_layout.h"

namespace tutti {
namespace {

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
  if (auto checked = check_times(transcript); !checked) return tl::unexpected(checked.error());
  return has_word_times(transcript) ? by_word(transcript, clock, options) : by_segment(transcript, clock);
}

}  // namespace tutti
