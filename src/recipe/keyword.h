#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/strings.h"

namespace tutti {

/// "window|bucket": the words of an enum's values, in their order.
template <std::size_t size>
struct Words {
  consteval Words(const char (&words)[size]) { std::copy_n(words, size, text); }
  char text[size]{};
};

/// A setting that is one of a few words. What is none of them is kept, so that the checks of a recipe can name it.
template <class Enum, Words words>
class Keyword {
 public:
  Keyword(Enum value) : value_(value) {}
  /// Takes the value of that word.
  Keyword& operator=(const std::string& word) {
    const auto known = split(all(), '|');
    const auto at = std::ranges::find(known, word);
    if (at == known.end())
      unknown_ = word;
    else
      *this = Keyword(static_cast<Enum>(at - known.begin()));
    return *this;
  }

  /// The value, where the word is known.
  operator Enum() const { return value_; }
  bool is_known() const { return !unknown_; }
  std::string word() const {
    return unknown_ ? *unknown_ : std::string(split(all(), '|')[static_cast<std::size_t>(value_)]);
  }
  static constexpr const char* all() { return words.text; }

 private:
  Enum value_;
  std::optional<std::string> unknown_{};
};

template <class Enum, Words words>
Result<void> read_value(std::string_view text, Keyword<Enum, words>& into) {
  into = std::string(text);
  return {};
}

template <class Enum, Words words>
std::string show_value(const Keyword<Enum, words>& value) {
  return value.word();
}

}  // namespace tutti
