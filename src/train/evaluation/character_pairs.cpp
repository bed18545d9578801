#include "train/evaluation/character_pairs.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "text/utf8.h"

namespace tutti {
namespace {

/// Edits between every beginning of one text and every beginning of the other.
class Distances {
 public:
  Distances(const std::u32string& said, const std::u32string& heard)
      : width_(heard.size() + 1), edits_((said.size() + 1) * width_) {
    for (std::size_t i = 0; i <= said.size(); ++i)
      for (std::size_t j = 0; j <= heard.size(); ++j) at(i, j) = least(said, heard, i, j);
  }
  std::size_t at(std::size_t i, std::size_t j) const { return edits_[i * width_ + j]; }

 private:
  std::size_t& at(std::size_t i, std::size_t j) { return edits_[i * width_ + j]; }
  std::size_t least(const std::u32string& said, const std::u32string& heard, std::size_t i, std::size_t j) const {
    if (i == 0 || j == 0) return i + j;
    const std::size_t wrong = said[i - 1] == heard[j - 1] ? 0 : 1;
    return std::min({at(i - 1, j - 1) + wrong, at(i - 1, j) + 1, at(i, j - 1) + 1});
  }

  std::size_t width_;
  std::vector<std::size_t> edits_;
};

}  // namespace

std::vector<CharacterPair> differing_characters(std::string_view said_text, std::string_view heard_text) {
  const auto said = to_code_points(said_text), heard = to_code_points(heard_text);
  const Distances edits(said, heard);
  std::vector<CharacterPair> pairs;
  std::size_t i = said.size(), j = heard.size();
  while (i > 0 || j > 0) {
    const bool both = i > 0 && j > 0;
    const std::size_t wrong = both && said[i - 1] == heard[j - 1] ? 0 : 1;
    if (both && edits.at(i, j) == edits.at(i - 1, j - 1) + wrong) {
      if (wrong) pairs.push_back({said[i - 1], heard[j - 1]});
      --i, --j;
    } else if (i > 0 && edits.at(i, j) == edits.at(i - 1, j) + 1) {
      pairs.push_back({.said = said[--i]});
    } else {
      pairs.push_back({.heard = heard[--j]});
    }
  }
  return pairs;
}

}  // namespace tutti
