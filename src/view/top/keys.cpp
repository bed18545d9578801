#include "view/top/keys.h"

#include <array>

namespace tutti {
namespace {

using Name = Key::Name;

struct Sequence {
  std::string_view bytes;  // behind the escape
  Name name;
};

constexpr std::array kSequences{
    Sequence{"[A", Name::up},       Sequence{"OA", Name::up},       Sequence{"[B", Name::down},
    Sequence{"OB", Name::down},     Sequence{"[5~", Name::page_up}, Sequence{"[6~", Name::page_down},
    Sequence{"[H", Name::home},     Sequence{"OH", Name::home},     Sequence{"[1~", Name::home},
    Sequence{"[F", Name::end},      Sequence{"OF", Name::end},      Sequence{"[4~", Name::end},
    Sequence{"[Z", Name::back_tab},
};

/// Length of an escape sequence at the start of `text`, which begins with the escape; 0: it is not whole.
std::size_t sequence_length(std::string_view text) {
  if (text.size() < 2) return 0;
  if (text[1] != '[' && text[1] != 'O') return 1;  // a lone escape, and then something else
  for (std::size_t i = 2; i < text.size(); ++i)
    if (text[i] >= 0x40 && text[i] <= 0x7e) return i + 1;
  return text.size() > 16 ? text.size() : 0;  // nothing that a terminal sends
}

std::size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

Key control_key(char byte) {
  switch (byte) {
    case '\t': return {Name::tab};
    case '\r':
    case '\n': return {Name::enter};
    case 0x7f:
    case '\b': return {Name::backspace};
    default: return {Name::other};
  }
}

}  // namespace

std::size_t KeyReader::first_key(Key& key) const {
  const char first = pending_[0];
  if (first == '\x1b') {
    const std::size_t length = sequence_length(pending_);
    key = {length == 1 ? Name::escape : Name::other};
    for (const Sequence& known : kSequences)
      if (length > 1 && std::string_view(pending_).substr(1, length - 1) == known.bytes) key.name = known.name;
    return length;
  }
  if (static_cast<unsigned char>(first) < 0x20 || first == 0x7f) {
    key = control_key(first);
    return 1;
  }
  const std::size_t length = utf8_length(first);
  if (pending_.size() < length) return 0;
  key = {Name::text, pending_.substr(0, length)};
  return length;
}

std::vector<Key> KeyReader::read(std::string_view bytes) {
  pending_ += bytes;
  std::vector<Key> keys;
  while (!pending_.empty()) {
    Key key;
    const std::size_t length = first_key(key);
    if (length == 0) break;
    pending_.erase(0, length);
    keys.push_back(std::move(key));
  }
  return keys;
}

std::vector<Key> KeyReader::settle() {
  if (pending_.empty()) return {};
  const bool escape = pending_ == "\x1b";
  pending_.clear();
  return {{escape ? Name::escape : Name::other}};
}

}  // namespace tutti
