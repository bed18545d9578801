#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random/counter_random.h"

namespace tutti {

/// Makes English sentences up, for a teacher to read: statements, questions, lists, strings of digits, numbers and
/// dates, of some seven hundred words. Sentence `index` of a seed is always the same. Immutable; thread-safe.
class SentenceMaker {
 public:
  /// `rare`: more words, of which some sentences are made, so that sounds meet in every order; may be empty.
  SentenceMaker(std::uint64_t seed, std::vector<std::string> rare);

  std::string sentence(std::int64_t index) const;

 private:
  std::string one_of(std::string_view list, CounterRandom& random) const;
  std::string someone(CounterRandom& random) const;
  std::string something(CounterRandom& random) const;
  std::string phrase(CounterRandom& random) const;
  std::string clause(CounterRandom& random) const;
  std::string question(CounterRandom& random) const;
  std::string digits(CounterRandom& random) const;
  std::string counted(CounterRandom& random) const;
  std::string listed(CounterRandom& random) const;

  std::uint64_t seed_;
  std::vector<std::string> rare_;
  std::map<std::string, std::vector<std::string>, std::less<>> lists_{};
};

}  // namespace tutti
