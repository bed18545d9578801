#include "text/speech/grapheme_rules.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/bytes.h"

namespace tutti {
namespace {

bool is_small_character(char character) {
  return character >= 'a' && character <= 'z';
}

/// A walk of more steps than that goes round in a circle; the deepest of flite's takes some forty.
constexpr int kDeepest = 1000;

}  // namespace

Result<GraphemeRules> GraphemeRules::make(Trees trees) {
  const auto inside = [&](std::uint16_t node) { return node < trees.nodes.size(); };
  const auto is_valid = [&](const Node& node) {
    return node.feature == kEnd ? node.value < trees.sounds.size() : inside(node.yes) && inside(node.no);
  };
  if (!std::ranges::all_of(trees.nodes, is_valid) || !std::ranges::all_of(trees.roots, inside))
    return fail(Fault::corrupt, "expected trees of characters, found a node that leads out of them");
  return GraphemeRules(std::move(trees));
}

Result<GraphemeRules> GraphemeRules::parse(std::string_view bytes) {
  Trees trees;
  ByteReader reader(bytes);
  for (auto& root : trees.roots) reader.get(root);
  std::vector<std::uint16_t> numbers;
  reader.get(numbers);
  for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
    trees.nodes.push_back({static_cast<std::uint8_t>(numbers[i] & 0xffU), static_cast<std::uint8_t>(numbers[i] >> 8),
                           numbers[i + 1], numbers[i + 2]});
  const auto count = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) reader.get(trees.sounds.emplace_back());
  const auto known = phone_names().size();
  for (const auto& sound : trees.sounds)
    if (std::ranges::any_of(sound, [&](Phone phone) { return phone >= known; }))
      return fail(Fault::corrupt, "expected trees of characters, found a phone that there is not");
  if (!reader.finished()) return fail(Fault::corrupt, "expected trees of characters, found something else");
  return make(std::move(trees));
}

std::string GraphemeRules::bytes() const {
  ByteWriter writer;
  for (const auto root : trees_.roots) writer.put(root);
  std::vector<std::uint16_t> numbers;
  for (const auto& node : trees_.nodes) {
    numbers.push_back(static_cast<std::uint16_t>(node.feature | node.value << 8));
    numbers.push_back(node.yes);
    numbers.push_back(node.no);
  }
  writer.put(numbers);
  writer.put(static_cast<std::uint32_t>(trees_.sounds.size()));
  for (const auto& sound : trees_.sounds) writer.put(sound);
  return writer.take();
}

std::vector<Phone> GraphemeRules::apply(std::string_view word) const {
  if (trees_.nodes.empty()) return {};
  std::string characters;
  std::ranges::copy_if(word, std::back_inserter(characters), is_small_character);
  // As flite has it: "000#word#000".
  const std::string edge(kContext - 1, '0');
  const std::string all = edge + "#" + characters + "#" + edge;
  std::vector<Phone> phones;
  for (std::size_t i = 0; i < characters.size(); ++i) {
    std::string around = all.substr(i, kContext) + all.substr(i + kContext + 1, kContext);
    around += '0';  // the part of speech: not known
    const Node* node = &trees_.nodes[trees_.roots[static_cast<std::size_t>(characters[i] - 'a')]];
    for (int depth = 0; node->feature != kEnd && depth < kDeepest; ++depth) {
      const bool is_it =
          node->feature < around.size() && static_cast<std::uint8_t>(around[node->feature]) == node->value;
      node = &trees_.nodes[is_it ? node->yes : node->no];
    }
    if (node->feature != kEnd) continue;
    const auto& sound = trees_.sounds[node->value];
    phones.insert(phones.end(), sound.begin(), sound.end());
  }
  return phones;
}

}  // namespace tutti
