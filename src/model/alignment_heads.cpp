#include "model/alignment_heads.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "text/files/vocabulary_files.h"

namespace tutti {
namespace {

using nlohmann::json;
using Heads = std::vector<AttentionHead>;

/// A model that OpenAI published, by its shape. No head of theirs is in layer 0: those fill the array up.
struct Published {
  std::int32_t layers;
  std::int32_t heads;
  std::int32_t n_mels;
  bool english;
  bool is_first_large;
  std::array<AttentionHead, 23> chosen;
};

/// `_ALIGNMENT_HEADS` of openai-whisper 20250625, unpacked.
constexpr Published kPublished[] = {
    {4, 6, 80, true, false, {{{1, 0}, {2, 0}, {2, 5}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {3, 4}}}},
    {4, 6, 80, false, false, {{{2, 2}, {3, 0}, {3, 2}, {3, 3}, {3, 4}, {3, 5}}}},
    {6, 8, 80, true, false, {{{3, 3}, {4, 7}, {5, 1}, {5, 5}, {5, 7}}}},
    {6, 8, 80, false, false, {{{3, 1}, {4, 2}, {4, 3}, {4, 7}, {5, 1}, {5, 2}, {5, 4}, {5, 6}}}},
    {12,
     12,
     80,
     true,
     false,
     {{{6, 6},
       {7, 0},
       {7, 3},
       {7, 8},
       {8, 2},
       {8, 5},
       {8, 7},
       {9, 0},
       {9, 4},
       {9, 8},
       {9, 10},
       {10, 0},
       {10, 1},
       {10, 2},
       {10, 3},
       {10, 6},
       {10, 11},
       {11, 2},
       {11, 4}}}},
    {12, 12, 80, false, false, {{{5, 3}, {5, 9}, {8, 0}, {8, 4}, {8, 7}, {8, 8}, {9, 0}, {9, 7}, {9, 9}, {10, 5}}}},
    {24,
     16,
     80,
     true,
     false,
     {{{11, 4},
       {14, 1},
       {14, 12},
       {14, 14},
       {15, 4},
       {16, 0},
       {16, 4},
       {16, 9},
       {17, 12},
       {17, 14},
       {18, 7},
       {18, 10},
       {18, 15},
       {20, 0},
       {20, 3},
       {20, 9},
       {20, 14},
       {21, 12}}}},
    {24, 16, 80, false, false, {{{13, 15}, {15, 4}, {15, 15}, {16, 1}, {20, 0}, {23, 4}}}},
    {32, 20, 80, false, true, {{{9, 19}, {11, 2}, {11, 4}, {11, 17}, {22, 7}, {22, 11}, {22, 17}, {23, 2}, {23, 15}}}},
    {32, 20, 80, false, false, {{{10, 12}, {13, 17}, {16, 11}, {16, 12}, {16, 13}, {17, 15}, {17, 16}, {18, 4},
                                 {18, 11}, {18, 19}, {19, 11}, {21, 2},  {21, 3},  {22, 3},  {22, 9},  {22, 12},
                                 {23, 5},  {23, 7},  {23, 13}, {25, 5},  {26, 1},  {26, 12}, {27, 15}}}},
    {32,
     20,
     128,
     false,
     false,
     {{{7, 0}, {10, 17}, {12, 18}, {13, 12}, {16, 1}, {17, 14}, {19, 11}, {21, 4}, {24, 1}, {25, 6}}}},
    {4, 20, 128, false, false, {{{2, 4}, {2, 11}, {3, 3}, {3, 6}, {3, 11}, {3, 14}}}},
};

std::optional<AttentionHead> read_head(const json& entry, const WhisperDims& dims) {
  if (!entry.is_array() || entry.size() != 2) return {};
  if (!entry[0].is_number_integer() || !entry[1].is_number_integer()) return {};
  const auto layer = entry[0].get<std::int64_t>();
  const auto head = entry[1].get<std::int64_t>();
  if (layer < 0 || layer >= dims.n_text_layer || head < 0 || head >= dims.n_text_head) return {};
  return AttentionHead{static_cast<std::int32_t>(layer), static_cast<std::int32_t>(head)};
}

/// The list in one of the folder's files; empty where there is none that fits.
Heads listed_heads(const std::filesystem::path& file, const WhisperDims& dims) {
  const auto text = read_regular_file(file);
  if (!text) return {};
  auto heads = parse_alignment_heads(*text, dims);
  if (heads) return std::move(*heads);
  log(Level::warning, file.string() + ": " + heads.error().text());
  return {};
}

Heads upper_half(const WhisperDims& dims) {
  Heads heads;
  for (auto layer = dims.n_text_layer / 2; layer < dims.n_text_layer; ++layer) {
    for (std::int32_t head = 0; head < dims.n_text_head; ++head) heads.push_back({layer, head});
  }
  return heads;
}

void sort_heads(Heads& heads) {
  const auto order = [](const AttentionHead& a) { return std::pair(a.layer, a.head); };
  std::ranges::sort(heads, {}, order);
  heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
}

}  // namespace

Result<std::vector<AttentionHead>> parse_alignment_heads(std::string_view text, const WhisperDims& dims) {
  const auto config = json::parse(text, nullptr, false);
  if (!config.is_object())
    return fail(Fault::corrupt, "damaged: expected a JSON object; the heads it may name for word times are not known",
                "Copy or download the model again");
  Heads heads;
  const auto listed = config.find("alignment_heads");
  if (listed == config.end() || !listed->is_array()) return heads;
  for (const auto& entry : *listed) {
    const auto head = read_head(entry, dims);
    if (!head)
      return fail(Fault::corrupt, "alignment_heads names " + entry.dump() + ", the model has " +
                                      std::to_string(dims.n_text_layer) + " layers of " +
                                      std::to_string(dims.n_text_head) + " heads; the list is not used");
    heads.push_back(*head);
  }
  return heads;
}

std::vector<AttentionHead> openai_alignment_heads(const WhisperDims& dims, bool is_first_large) {
  const bool english = dims.n_vocab == kEnglishVocabulary;
  const auto is_it = [&](const Published& known) {
    const bool two_of_this_shape = known.layers == 32 && known.n_mels == 80;
    return known.layers == dims.n_text_layer && known.heads == dims.n_text_head && known.n_mels == dims.n_mels &&
           known.english == english && (!two_of_this_shape || known.is_first_large == is_first_large);
  };
  const auto* found = std::ranges::find_if(kPublished, is_it);
  Heads heads;
  if (found == std::end(kPublished)) return heads;
  std::ranges::copy_if(found->chosen, std::back_inserter(heads), [](const auto& one) { return one.layer > 0; });
  return heads;
}

std::vector<AttentionHead> alignment_heads(const std::filesystem::path& model, const WhisperDims& dims) {
  Heads heads;
  for (const char* file : {"generation_config.json", "config.json"}) {
    if (heads.empty() && std::filesystem::is_directory(model)) heads = listed_heads(model / file, dims);
  }
  const bool is_first_large = model.string().find("large-v1") != std::string::npos;
  if (heads.empty()) heads = openai_alignment_heads(dims, is_first_large);
  if (heads.empty()) heads = upper_half(dims);
  sort_heads(heads);
  return heads;
}

}  // namespace tutti
