#include "text/speech/sentence_maker.h"

#include <cstddef>
#include <utility>

#include "base/strings.h"
#include "text/speech/number_words.h"

namespace tutti {

extern const std::string_view kSentenceWords;

namespace {

/// "name: a b c": single words; with bars, "name: a b|two words|c", what is behind the first bar is taken whole.
std::pair<std::string, std::vector<std::string>> read_list(std::string_view line) {
  const auto colon = line.find(':');
  std::vector<std::string> entries;
  const auto parts = split(trimmed(line.substr(colon + 1)), '|');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      entries.emplace_back(trimmed(parts[i]));
      continue;
    }
    for (const auto word : split(parts[i], ' ')) entries.emplace_back(word);
  }
  return {std::string(line.substr(0, colon)), std::move(entries)};
}

std::string with_capital(std::string text) {
  if (!text.empty()) text.replace(0, 1, ascii_upper(text.substr(0, 1)));
  return text;
}

bool begins_with_vowel(std::string_view word) {
  return !word.empty() && std::string_view("aeiouAEIOU").find(word.front()) != std::string_view::npos;
}

}  // namespace

SentenceMaker::SentenceMaker(std::uint64_t seed, std::vector<std::string> rare) : seed_(seed), rare_(std::move(rare)) {
  for (const auto line : split(kSentenceWords, '\n'))
    if (!line.empty() && line.front() != '#') lists_.insert(read_list(line));
}

std::string SentenceMaker::one_of(std::string_view list, CounterRandom& random) const {
  const auto& entries = lists_.find(list)->second;
  return entries[static_cast<std::size_t>(random.below(std::ssize(entries)))];
}

std::string SentenceMaker::someone(CounterRandom& random) const {
  if (random.chance(0.3)) return one_of("name", random);
  if (random.chance(0.15)) return one_of("name", random) + "'s " + one_of("person", random);
  const auto noun = one_of(random.chance(0.8) ? "person" : "animal", random);
  return "the " + (random.chance(0.4) ? one_of("adjective", random) + " " : std::string()) + noun;
}

std::string SentenceMaker::something(CounterRandom& random) const {
  if (random.chance(0.15)) return "some " + one_of("stuff", random);
  const auto words = (random.chance(0.6) ? one_of("adjective", random) + " " : std::string()) + one_of("thing", random);
  if (random.chance(0.3)) return std::string(begins_with_vowel(words) ? "an " : "a ") + words;
  return "the " + words;
}

std::string SentenceMaker::phrase(CounterRandom& random) const {
  if (random.chance(0.4)) return one_of("when", random);
  if (random.chance(0.25)) return "in " + one_of("town", random);
  return one_of("where", random) + " the " + one_of("place", random);
}

std::string SentenceMaker::clause(CounterRandom& random) const {
  std::string text = someone(random);
  if (random.chance(0.25)) text += " " + one_of("adverb", random);
  if (random.chance(0.25))
    text += " " + one_of("intransitive", random);
  else if (random.chance(0.2))
    text += " wanted to " + one_of("infinitive", random) + " " + something(random);
  else
    text += " " + one_of("past", random) + " " + something(random);
  return random.chance(0.6) ? text + " " + phrase(random) : text;
}

std::string SentenceMaker::question(CounterRandom& random) const {
  const auto start = random.chance(0.6) ? one_of("question", random) + " did " : std::string("Did ");
  return start + someone(random) + " " + one_of("infinitive", random) + " " + something(random) + "?";
}

std::string SentenceMaker::digits(CounterRandom& random) const {
  std::string digits;
  for (std::int64_t i = 2 + random.below(7); i > 0; --i) digits += static_cast<char>('0' + random.below(10));
  return digit_words(digits);
}

std::string SentenceMaker::counted(CounterRandom& random) const {
  const auto number = std::to_string(random.chance(0.5) ? 2 + random.below(98) : 100 + random.below(9900));
  const auto noun = one_of(random.chance(0.5) ? "thing" : "person", random);
  if (random.chance(0.3)) return "Chapter " + std::to_string(1 + random.below(40)) + " begins on page " + number + ".";
  if (random.chance(0.3)) return "It costs $" + number + ", not a penny less.";
  return with_capital(someone(random)) + " counted " + number + " " + noun + "s " + phrase(random) + ".";
}

/// Words that have nothing to do with each other.
std::string SentenceMaker::listed(CounterRandom& random) const {
  std::vector<std::string> words;
  for (std::int64_t i = 4 + random.below(4); i > 0; --i)
    words.push_back(rare_.empty() ? one_of("stuff", random)
                                  : rare_[static_cast<std::size_t>(random.below(std::ssize(rare_)))]);
  return with_capital(joined(words, random.chance(0.5) ? ", " : " ")) + ".";
}

std::string SentenceMaker::sentence(std::int64_t index) const {
  CounterRandom random({seed_, static_cast<std::uint64_t>(index)});
  const double kind = random.uniform();
  constexpr double kDigits = 0.1, kLists = 0.3, kCounts = 0.38, kQuestions = 0.46;
  if (kind < kDigits) return digits(random);
  if (kind < kLists) return listed(random);
  if (kind < kCounts) return counted(random);
  if (kind < kQuestions) return question(random);
  std::string text;
  if (random.chance(0.2)) text = one_of("opener", random) + ", ";
  text += clause(random);
  if (random.chance(0.4)) text += ", " + one_of("joiner", random) + " " + clause(random);
  return with_capital(text) + (random.chance(0.05) ? "!" : ".");
}

}  // namespace tutti
