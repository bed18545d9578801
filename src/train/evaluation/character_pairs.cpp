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
  Distances(const std::u32string& reference, const std::u32string& hypothesis)
      : width_(hypothesis.size() + 1), edits_((reference.size() + 1) * width_) {
    for (std::size_t i = 0; i <= reference.size(); ++i)
      for (std::size_t j = 0; j <= hypothesis.size(); ++j) at(i, j) = least(reference, hypothesis, i, j);
  }
  std::size_t at(std::size_t i, std::size_t j) const { return edits_[i * width_ + j]; }

 private:
  std::size_t& at(std::size_t i, std::size_t j) { return edits_[i * width_ + j]; }
  std::size_t least(const std::u32string& reference, const std::u32string& hypothesis, std::size_t i,
                    std::size_t j) const {
    if (i == 0 || j == 0) return i + j;
    const std::size_t wrong = reference[i - 1] == hypothesis[j - 1] ? 0 : 1;
    return std::min({at(i - 1, j - 1) + wrong, at(i - 1, j) + 1, at(i, j - 1) + 1});
  }

  std::size_t width_;
  std::vector<std::size_t> edits_;
};

}  // namespace

std::vector<CharacterPair> differing_characters(std::string_view reference_text, std::string_view hypothesis_text) {
  const auto reference = to_code_points(reference_text), hypothesis = to_code_points(hypothesis_text);
  const Distances edits(reference, hypothesis);
  std::vector<CharacterPair> pairs;
  std::size_t i = reference.size(), j = hypothesis.size();
  while (i > 0 || j > 0) {
    const bool both = i > 0 && j > 0;
    const std::size_t wrong = both && reference[i - 1] == hypothesis[j - 1] ? 0 : 1;
    if (both && edits.at(i, j) == edits.at(i - 1, j - 1) + wrong) {
      if (wrong) pairs.push_back({reference[i - 1], hypothesis[j - 1]});
      --i, --j;
    } else if (i > 0 && edits.at(i, j) == edits.at(i - 1, j) + 1) {
      pairs.push_back({.reference = reference[--i]});
    } else {
      pairs.push_back({.hypothesis = hypothesis[--j]});
    }
  }
  return pairs;
}

}  // namespace tutti
