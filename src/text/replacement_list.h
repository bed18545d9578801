#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"

namespace tutti {

/// What replaces [begin, end) of a text, in code points.
struct TextEdit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::u32string text{};
};

/// Texts that are to be written otherwise: names and terms that a model spells wrong. Immutable.
class ReplacementList {
 public:
  /// Reads a file: UTF-8, "old<TAB>new" a line; blank lines and those that begin with # are passed over. Errors name
  /// the file and the line: one without a tab or with two, with nothing on a side of it, with an old text of an earlier
  /// line.
  static Result<ReplacementList> read(const std::filesystem::path& file);

  /// What is to be replaced in `text`, in order and apart. An old text is found without regard to case, as
  /// whole words, with any white space where it has some; ' and its typographic form are the same. From left to right,
  /// of several the longest. Where the text found begins with a capital, so does the new one.
  ///
  /// In scripts without spaces between words a match may begin and end anywhere.
  std::vector<TextEdit> edits_of(std::u32string_view text) const;

  std::size_t size() const { return rules_.size(); }

 private:
  struct Rule {
    std::u32string old_text{};  // folded: in lower case, with single spaces
    std::u32string new_text{};
    std::size_t line = 0;
  };

  Result<void> add(std::string_view text, std::size_t line, const std::string& file);
  /// Where `rule` ends in `text` if it begins at `at`; `at` where it does not.
  static std::size_t end_of(const Rule& rule, std::u32string_view text, std::size_t at);

  std::vector<Rule> rules_;
  std::unordered_map<char32_t, std::vector<std::size_t>> by_first_;  // longest first
};

}  // namespace tutti
