#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/json.h"
#include "model/damage.h"
#include "model/formats/formats.h"

namespace tutti {
namespace {

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

class GoldenBlocks : public testing::TestWithParam<ElementType> {};

TEST_P(GoldenBlocks, AreReadAsGgmlReadsThem) {
  const auto golden = nlohmann::json::parse(content_of(golden_folder() / "stored/blocks.json"));
  const auto& entry = golden.at(std::string(name_of(GetParam())));
  const auto bytes = bytes_of_hex(entry["bytes"]);
  const StoredTensor tensor{.type = GetParam(), .shape = {1, 128}, .bytes = std::as_bytes(std::span(bytes))};
  ASSERT_EQ(byte_count(tensor.shape, tensor.type), bytes.size());
  EXPECT_TRUE(is_quantised(tensor));
  std::vector<float> values(128);
  read_row(tensor, 0, values);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], entry["values"][i].get<float>()) << i;
}

INSTANTIATE_TEST_SUITE_P(RowValues, GoldenBlocks,
                         testing::Values(ElementType::q8_0, ElementType::q5_1, ElementType::q5_0, ElementType::q4_1,
                                         ElementType::q4_0),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST(RowValues, BlocksOf256AreReadAsGgmlReadsThem) {
  const auto golden = nlohmann::json::parse(content_of(golden_folder() / "stored/blocks.json"));
  for (const ElementType type : {ElementType::q4_k, ElementType::q5_k, ElementType::q6_k}) {
    const auto& entry = golden.at(std::string(name_of(type)));
    const auto block = bytes_of_hex(entry["bytes"]), expected = bytes_of_hex(entry["float32"]);
    const std::string bytes = block + block;
    const StoredTensor tensor{.type = type, .shape = {1, 512}, .bytes = std::as_bytes(std::span(bytes))};
    ASSERT_EQ(byte_count(tensor.shape, type), bytes.size());
    std::vector<float> values(512);
    read_row(tensor, 0, values);
    EXPECT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0) << name_of(type);
    EXPECT_EQ(std::memcmp(values.data() + 256, expected.data(), expected.size()), 0) << name_of(type);
  }
}

TEST(RowValues, AnIntegerIsMultipliedByTheScaleOfItsRow) {
  const std::array<std::int8_t, 4> numbers{1, -128, 127, 0};
  const StoredTensor tensor{
      .type = ElementType::i8, .shape = {2, 2}, .bytes = std::as_bytes(std::span(numbers)), .row_scales = {0.5F, 2}};
  std::vector<float> row(2);
  read_row(tensor, 0, row);
  EXPECT_EQ(row, (std::vector<float>{0.5F, -64}));
  read_row(tensor, 1, row);
  EXPECT_EQ(row, (std::vector<float>{254, 0}));
}

TEST(RowValues, IntegersWithoutScalesAreNoWeights) {
  EXPECT_FALSE(is_quantised({.type = ElementType::i8, .shape = {1}}));
  EXPECT_FALSE(is_quantised({.type = ElementType::f16, .shape = {1}}));
}

TEST(RowValues, EveryHalfIsTheSameNumberInSinglePrecision) {
  EXPECT_EQ(float_of_half(0x3C00), 1.0F);
  EXPECT_EQ(float_of_half(0xC000), -2.0F);
  EXPECT_EQ(float_of_half(0x0001), std::ldexp(1.0F, -24));
  EXPECT_EQ(float_of_half(0x03FF), std::ldexp(1023.0F, -24));
  EXPECT_EQ(float_of_half(0x7BFF), 65504.0F);
  EXPECT_TRUE(std::signbit(float_of_half(0x8000)));
  EXPECT_EQ(float_of_half(0xFC00), -INFINITY);
  EXPECT_TRUE(std::isnan(float_of_half(0x7E00)));
}

TEST(ByteCount, RowsOfBlocksAreWholeBlocks) {
  const auto of = [](std::vector<std::int64_t> shape) { return byte_count(shape, ElementType::q5_1); };
  EXPECT_EQ(of({3, 64}), 3 * 2 * 24);
  EXPECT_EQ(of({64, 3}), std::nullopt);
  EXPECT_EQ(of({}), std::nullopt);
  EXPECT_EQ(of({-32, 32}), std::nullopt);
  EXPECT_EQ(of({1L << 62, 64}), std::nullopt);
}

}  // namespace
}  // namespace tutti
