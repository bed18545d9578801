#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "text/speech/phones.h"

namespace tutti {

/// How words that no dictionary has are pronounced: a decision tree for each character, which looks at the four
/// characters before it and behind it, and ends in no, one or two phones. Trained by CMU's flite on CMUdict. Immutable;
/// thread-safe.
class GraphemeRules {
 public:
  /// Characters to either side that a tree looks at.
  static constexpr int kContext = 4;
  static constexpr std::uint8_t kEnd = 255;  ///< `feature` of a tree's leaf
  /// A node: where character `feature` (0 to 2 * kContext - 1, from the left; behind them the part of speech) is
  /// `value`, go on at `yes`, else at `no`. A leaf's value is an index of `sounds`.
  struct Node {
    std::uint8_t feature = kEnd;
    std::uint8_t value = 0;
    std::uint16_t yes = 0;
    std::uint16_t no = 0;
  };
  struct Trees {
    std::array<std::uint16_t, 26> roots{};
    std::vector<Node> nodes{};
    std::vector<std::vector<Phone>> sounds{};
  };

  GraphemeRules() = default;
  /// Fault::corrupt where a node leads out of the trees or round in a circle.
  static Result<GraphemeRules> make(Trees trees);
  static Result<GraphemeRules> parse(std::string_view bytes);
  std::string bytes() const;

  /// A word of small characters; others in it are passed over. Empty where nothing of it has a sound.
  std::vector<Phone> apply(std::string_view word) const;

 private:
  explicit GraphemeRules(Trees trees) : trees_(std::move(trees)) {}
  Trees trees_{};
};

}  // namespace tutti
