#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace tutti {

/// `text_of` each of the parts (themselves, where they are texts) in their order, with `between` each two of them.
template <class Parts, class TextOf = std::identity>
std::string joined(const Parts& parts, std::string_view between, const TextOf& text_of = {}) {
  std::string text;
  bool is_first = true;
  for (const auto& part : parts) {
    if (!is_first) text += between;
    text += std::invoke(text_of, part);
    is_first = false;
  }
  return text;
}

}  // namespace tutti
