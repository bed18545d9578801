#include <algorithm>
#include <array>
#include <optional>

#include "text/code_points.h"
#include "text/languages.h"
#include "text/utf8.h"
#include "transcript/doubt/doubt_rules.h"
#include "transcript/doubt/scripts.h"

namespace tutti {
namespace {

constexpr std::size_t kScripts = 14;

/// Alphabetic characters by script.
struct ScriptCount {
  std::array<std::size_t, kScripts> letters{};

  std::size_t all() const {
    std::size_t sum = 0;
    for (const std::size_t count : letters) sum += count;
    return sum;
  }
  std::size_t of(Script script) const { return letters[static_cast<std::size_t>(script)]; }
};

ScriptCount count_scripts(const std::string& text) {
  ScriptCount count;
  for (const char32_t value : to_code_points(text))
    if (const Script script = script_of(value); script != Script::none && is_letter(value))
      ++count.letters[static_cast<std::size_t>(script)];
  return count;
}

/// The code of a transcript's language, which other programs give by its name: "English", "japanese".
std::string language_of(const Transcript& transcript) {
  return std::string(to_language_code(transcript.language).value_or(transcript.language));
}

/// Scripts that belong here: the language's; where that is not known, those that a good part of the text is in.
std::vector<Script> home_scripts(const Transcript& transcript, const std::string& language) {
  auto home = scripts_of_language(language);
  if (!home.empty()) return home;
  ScriptCount all;
  for (const Segment& segment : transcript.segments) {
    const ScriptCount count = count_scripts(segment.text);
    for (std::size_t i = 0; i < kScripts; ++i) all.letters[i] += count.letters[i];
  }
  for (std::size_t i = 0; i < kScripts; ++i)
    if (4 * all.letters[i] > all.all()) home.push_back(static_cast<Script>(i));
  return home;
}

/// How many different characters make more than a name or a loan word.
std::size_t distinct_letters(Script script) {
  return script == Script::han || script == Script::kana || script == Script::hangul ? 4
         : script == Script::latin                                                   ? 20  // brands, titles, terms
                                                                                     : 8;
}

/// The foreign script that most of a segment is in.
std::optional<Script> foreign_script(const Segment& segment, const std::vector<Script>& home) {
  const ScriptCount count = count_scripts(segment.text);
  for (std::size_t i = 0; i < kScripts; ++i) {
    const auto script = static_cast<Script>(i);
    if (std::find(home.begin(), home.end(), script) != home.end()) continue;
    if (5 * count.letters[i] > 3 * count.all() && count.letters[i] >= distinct_letters(script)) return script;
  }
  return std::nullopt;
}

/// The language whose small words a segment is full of while the transcript's own are missing; empty: none.
std::string_view foreign_language(const Segment& segment, std::string_view own) {
  const std::u32string text = lower(to_code_points(segment.text));
  std::vector<std::u32string_view> words;
  for (std::u32string_view word : split_at_spaces(text)) {
    while (!word.empty() && !is_letter(word.back())) word.remove_suffix(1);
    while (!word.empty() && !is_letter(word.front())) word.remove_prefix(1);
    if (!word.empty()) words.push_back(word);
  }
  SmallWordCount most{"", 0};
  std::size_t own_hits = 0;
  for (const SmallWordCount& count : count_small_words(words)) {
    if (count.language == own)
      own_hits = count.hits;
    else if (count.hits > most.hits)
      most = count;
  }
  // Without a single word of its own two of another's are enough: hardly a sentence of five words has none.
  const std::size_t enough = own_hits == 0 && words.size() >= 5 ? 2 : 3 + 2 * own_hits;
  return most.hits >= enough && 4 * most.hits >= words.size() ? most.language : std::string_view();
}

std::string title(std::string_view code) {
  std::string name(language_name(code).value_or(code));
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

/// Why a segment is not in the transcript's language; empty: it is, or cannot be known.
std::string flip_reason(const Segment& segment, const std::vector<Script>& home, const std::string& language) {
  if (const auto script = foreign_script(segment, home)) {
    std::string here(home.empty() ? "other" : name_of(home.front()));
    return std::string(name_of(*script)) + " script where " + here + " is expected" +
           (language.empty() ? "" : " (" + title(language) + ")");
  }
  if (language.empty() || std::find(home.begin(), home.end(), Script::latin) == home.end()) return {};
  const std::string_view other = foreign_language(segment, language);
  return other.empty() ? std::string() : "reads as " + title(other) + ", the rest is " + title(language);
}

}  // namespace

std::vector<Doubt> find_language_flips(const ReviewedTranscript& it) {
  const auto& segments = it.transcript.segments;
  const std::string language = language_of(it.transcript);
  const auto home = home_scripts(it.transcript, language);
  std::vector<Doubt> doubts;
  std::string last_reason;
  std::size_t first = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const std::string reason = flip_reason(segments[i], home, language);
    if (reason.empty()) {
      last_reason.clear();
      continue;
    }
    if (reason == last_reason) {  // the same flip goes on
      doubts.back().end = segments[i].end;
      doubts.back().excerpt = excerpt_of(segments, first, i + 1);
      continue;
    }
    first = i;
    doubts.push_back(
        {DoubtKind::language, segments[i].start, segments[i].end, 0.75, reason, shortened(segments[i].text)});
    last_reason = reason;
  }
  return doubts;
}

}  // namespace tutti
