#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// A text in the pieces that it is spoken in.
struct Sentences {
  std::vector<std::string> pieces{};
  std::size_t cut = 0;  // places inside of sentences where one was too long
};

/// Cuts a text (UTF-8) behind the end of each sentence: '.', '!', '?', ';' or ':' before white space, and line breaks;
/// not behind a short abbreviation ("Dr.") or an initial. A sentence of more than `most` bytes is cut again, where
/// there is one at a comma, else between two words, else between two characters. Pieces without a letter or figure are
/// left out, white space at their ends too.
Sentences split_sentences(std::string_view text, std::size_t most);

}  // namespace tutti
