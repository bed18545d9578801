#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/speech/phones.h"

namespace tutti {

/// A pronouncing dictionary, packed: sorted words in blocks, each word by what differs from the one before it. A
/// look-up reads a block of sixteen words; nothing is unpacked beforehand. Immutable; thread-safe.
class Lexicon {
 public:
  Lexicon() = default;
  /// From a text in CMUdict's form: "word PHONE PHONE ... # comment"; of several pronunciations, "word(2)", the first.
  /// Fault::corrupt names the line that has another form.
  static Result<Lexicon> from_cmudict(std::string_view text);
  /// From what bytes() gave.
  static Result<Lexicon> parse(std::string bytes);
  const std::string& bytes() const { return bytes_; }

  /// The pronunciation of a word in lower case; none for one that is not in it.
  std::optional<std::vector<Phone>> find(std::string_view word) const;
  bool contains(std::string_view word) const { return find(word).has_value(); }
  std::int64_t words() const;

 private:
  std::int64_t block_at(std::int64_t block) const;

  std::string bytes_{};
  std::int64_t blocks_ = 0;
};

}  // namespace tutti
