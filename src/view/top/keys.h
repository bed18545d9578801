#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// A key that was pressed: a named one, or `text`, one character of UTF-8.
struct Key {
  enum class Name { text, up, down, page_up, page_down, home, end, tab, back_tab, enter, escape, backspace, other };
  Name name = Name::other;
  std::string text{};

  bool is(char c) const { return name == Name::text && text.size() == 1 && text[0] == c; }
};

/// Turns a terminal's bytes into keys, however they are cut into pieces on their way.
class KeyReader {
 public:
  std::vector<Key> read(std::string_view bytes);
  /// Part of a sequence, or a lone escape, is waiting for more.
  bool waiting() const { return !pending_.empty(); }
  /// Nothing more came for a while: what waits is all there is.
  std::vector<Key> settle();

 private:
  /// Bytes of the first key in `pending_`; 0: more are needed.
  std::size_t first_key(Key& key) const;
  std::string pending_;
};

}  // namespace tutti
