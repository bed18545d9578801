// A model of one layer whose matrices are of every block type (tools/golden/stored.py).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/damage.h"
#include "model/formats/formats.h"
#include "model/stored_weights.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kLast = "decoder.ln.bias";

std::filesystem::path golden_file() {
  return golden_folder() / "stored/ggml-random.bin";
}

std::string error_of(const std::string& file) {
  const auto model = parse_ggml(std::as_bytes(std::span(file)));
  return model ? "accepted" : model.error().text();
}

/// The golden file with one of the four-byte numbers before a tensor's name changed; 0 is the number of dimensions, 1
/// the length of the name, 2 the type, 3 the fastest extent, 4 the next.
std::string with_number(const std::string& tensor, std::size_t dimensions, std::size_t which, std::int32_t value) {
  auto file = content_of(golden_file());
  const auto at = file.find(tensor) - 4 * (3 + dimensions) + 4 * which;
  std::memcpy(file.data() + at, &value, sizeof value);
  return file;
}

TEST(Ggml, EveryWeightIsWhatGgmlReads) {
  const auto expected = read_golden(golden_folder() / "stored/ggml-random.safetensors");
  const auto found = loaded_weights(golden_file());
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(at::equal(found.at(name), tensor)) << name;
}

TEST(Ggml, TheNumbersInFrontAreTheShape) {
  const auto dims = opened(golden_file())->shape.dims;
  EXPECT_EQ(dims, (WhisperDims{.n_mels = 8,
                               .n_audio_ctx = 20,
                               .n_audio_state = 32,
                               .n_audio_head = 2,
                               .n_audio_layer = 1,
                               .n_vocab = 40,
                               .n_text_ctx = 16,
                               .n_text_state = 32,
                               .n_text_head = 2,
                               .n_text_layer = 1}));
}

TEST(Ggml, TruncationAnywhereIsAnError) {
  const auto file = content_of(golden_file());
  const TempFolder folder;
  for (std::size_t size = 4; size < file.size(); size += 509) {
    put(folder / "cut.bin", file.substr(0, size));
    EXPECT_NE(load_failure(folder / "cut.bin"), "loaded") << size;
  }
  EXPECT_THAT(error_of(file.substr(0, file.size() - 1)),
              AllOf(HasSubstr("'decoder.ln.bias' [32]"), HasSubstr("takes 128 bytes"), HasSubstr("only 127 more")));
}

TEST(Ggml, AFileThatEndsBetweenTwoTensorsLacksTheNext) {
  const auto file = content_of(golden_file());
  const TempFolder folder;
  put(folder / "cut.bin", file.substr(0, file.find(kLast) - 4 * 4));
  EXPECT_THAT(load_failure(folder / "cut.bin"), AllOf(HasSubstr(kLast), HasSubstr("is missing"), HasSubstr("[32]")));
}

TEST(Ggml, TypesThatAreNotKnownAreRefusedByNumber) {
  EXPECT_THAT(error_of(with_number(kLast, 1, 2, 10)), AllOf(HasSubstr(kLast), HasSubstr("number 10")));
}

TEST(Ggml, BlocksOf256NeedRowsOfWholeBlocks) {
  const std::string query = "encoder.blocks.0.attn.query.weight";
  for (const auto& [number, name] : {std::pair(12, "Q4_K"), {13, "Q5_K"}, {14, "Q6_K"}})
    EXPECT_THAT(error_of(with_number(query, 2, 2, number)),
                HasSubstr("no shape of a " + std::string(name) + " tensor"));
}

TEST(Ggml, BlocksOfAnEarlierLayoutAreRefused) {
  auto file = content_of(golden_file());
  const std::int32_t first_layout = 1008;
  std::memcpy(file.data() + 44, &first_layout, sizeof first_layout);
  EXPECT_THAT(error_of(file), AllOf(HasSubstr("blocks of version 1"), HasSubstr("Quantise the model again")));
}

TEST(Ggml, InvalidShapesAreRefusedByTensorName) {
  const std::string query = "encoder.blocks.0.attn.query.weight";
  EXPECT_THAT(error_of(with_number(query, 2, 3, 31)), AllOf(HasSubstr(query), HasSubstr("[32, 31]")));
  EXPECT_THAT(error_of(with_number(query, 2, 4, -1)), AllOf(HasSubstr(query), HasSubstr("[-1, 32]")));
  EXPECT_THAT(error_of(with_number(query, 2, 4, INT32_MAX)), AllOf(HasSubstr(query), HasSubstr("the file has only")));
  EXPECT_THAT(error_of(with_number(query, 2, 0, 5)), HasSubstr("no tensor's description"));
  EXPECT_THAT(error_of(with_number(query, 2, 1, -1)), HasSubstr("no tensor's description"));
}

}  // namespace
}  // namespace tutti
