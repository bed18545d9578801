#pragma once

#include <string>
#include <vector>

namespace tutti {

/// Goes through words in lower case and writes spelled-out numbers among them in figures, with sign and suffix:
/// {"minus", "twenty", "first"} -> {"-21st"}. The rules, word by word, are those of the reference's process_words.
std::vector<std::string> read_numbers(const std::vector<std::string>& words);

}  // namespace tutti
