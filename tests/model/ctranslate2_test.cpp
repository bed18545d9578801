// Models that CTranslate2's own converter made of the random golden model (tools/golden/stored.py).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "model/damage.h"
#include "model/formats/formats.h"
#include "model/stored_weights.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::filesystem::path converted(const std::string& kind) {
  return golden_folder() / "stored" / ("ct2-" + kind);
}

std::string model_bin(const std::string& kind) {
  return content_of(converted(kind) / "model.bin");
}

std::string error_of(const std::string& file) {
  const auto model = parse_ctranslate2_whisper(std::as_bytes(std::span(file)));
  return model ? "accepted" : model.error().text();
}

/// What loading a folder with this model.bin fails with.
std::string folder_failure(const std::string& file) {
  const TempFolder folder;
  put(folder / "model.bin", file);
  return load_failure(folder.path());
}

TEST(Ctranslate2, Float16WeightsAreBitForBitThoseOfTheModelTheyCameFrom) {
  const auto expected = loaded_weights(golden_folder() / "random/random.pt");
  const auto found = loaded_weights(converted("float16"));
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, tensor] : expected) EXPECT_TRUE(at::equal(found.at(name), tensor)) << name;
}

TEST(Ctranslate2, TheShapeComesFromTheVariables) {
  const auto shape = opened(converted("float16"))->shape;
  const auto expected = opened(golden_folder() / "random")->shape;
  EXPECT_EQ(shape.dims, expected.dims);
  EXPECT_EQ(shape.audio_mlp, expected.audio_mlp);
  EXPECT_EQ(shape.text_mlp, expected.text_mlp);
}

TEST(Ctranslate2, Int8WeightsAreOffByHalfAStepOfTheirRowAtMost) {
  const auto expected = loaded_weights(golden_folder() / "random");
  const auto found = loaded_weights(converted("int8"));
  for (const auto& [name, tensor] : expected) {
    const bool quantised = tensor.dim() > 1 && name.find("positional") == std::string::npos;
    const auto rows = tensor.reshape({tensor.size(0), -1});
    const auto step = rows.abs().amax(1, true) / 127;
    const auto off = (found.at(name).reshape(rows.sizes()) - rows).abs();
    EXPECT_TRUE(at::all(off <= step * (quantised ? 0.501 : 0)).item<bool>()) << name;
    EXPECT_EQ(off.max().item<float>() > 0, quantised) << name;
  }
}

TEST(Ctranslate2, Int8RowsArePassedUnchangedWithTheirScales) {
  const auto checkpoint = opened(converted("int8"));
  const auto& key = checkpoint->tensors.at("decoder.blocks.1.cross_attn.key.weight");
  EXPECT_EQ(key.name, "decoder/layer_1/attention/linear_1/weight");
  EXPECT_EQ(key.type, ElementType::i8);
  EXPECT_EQ(key.shape, (std::vector<std::int64_t>{24, 24}));
  EXPECT_EQ(key.row_scales.size(), 24U);
  const auto file = checkpoint->files.front().bytes();
  EXPECT_TRUE(key.bytes.data() > file.data() && key.bytes.data() < file.data() + file.size());
}

TEST(Ctranslate2, AliasSharesBytesAndScale) {
  const auto file = model_bin("int8");
  const auto variables = parse_ctranslate2(std::as_bytes(std::span(file)));
  ASSERT_TRUE(variables) << variables.error().text();
  const auto& by_name = variables->by_name;
  EXPECT_EQ(by_name.at("decoder/projection/weight").bytes.data(), by_name.at("decoder/embeddings/weight").bytes.data());
  EXPECT_EQ(by_name.at("decoder/projection/weight_scale").bytes.data(),
            by_name.at("decoder/embeddings/weight_scale").bytes.data());
}

TEST(Ctranslate2, TruncationAnywhereIsAnErrorAndNeverAModel) {
  const auto file = model_bin("int8");
  for (std::size_t size = 0; size < file.size(); size += 331) EXPECT_NE(error_of(file.substr(0, size)), "accepted");
  EXPECT_NE(error_of(file + "x"), "accepted");
  EXPECT_THAT(error_of(file.substr(0, file.size() / 2)),
              AllOf(HasSubstr("'decoder/layer_"), HasSubstr("the file has only"), HasSubstr("truncated")));
}

TEST(Ctranslate2, AVariableThatIsMissingIsNamedAsTheTensorItIs) {
  const auto failed = folder_failure(
      replaced(model_bin("float16"), "encoder/layer_1/ffn/linear_1/bias", "encoder/layer_1/ffn/linear_1/bios"));
  EXPECT_THAT(failed, AllOf(HasSubstr("encoder.blocks.1.mlp.2.bias"), HasSubstr("is missing"), HasSubstr("[24]")));
}

TEST(Ctranslate2, UnusedVariableIsAWarning) {
  std::string warned;
  auto before = set_log_sink([&](Level, std::string_view text) { warned += text; });
  // The alias of the output layer, under a name that means nothing.
  auto file = model_bin("float16");
  const auto at = file.rfind("decoder/projection/weight");
  file.replace(at, 25, "decoder/projectiom/weight");
  EXPECT_EQ(folder_failure(file), "loaded");
  set_log_sink(std::move(before));
  EXPECT_THAT(warned, HasSubstr("decoder/embeddings/weight"));
}

TEST(Ctranslate2, AScaleThatIsMissingOrNoScaleIsNamed) {
  const std::string scale = "encoder/layer_0/ffn/linear_0/weight_scale";
  auto file = model_bin("int8");
  EXPECT_THAT(error_of(replaced(file, scale, "encoder/layer_0/ffn/linear_0/weight_scole")),
              AllOf(HasSubstr("'" + scale + "'"), HasSubstr("is missing")));
  const auto values = file.find(scale) + scale.size() + 1 + 1 + 4 + 1 + 4;  // zero, rank, extent, type, size
  file.replace(values, 4, std::string(4, '\0'));
  EXPECT_THAT(error_of(file), AllOf(HasSubstr("'" + scale + "'"), HasSubstr("row 0 is no scale")));
}

TEST(Ctranslate2, KeysWithABiasAreRefused) {
  auto file = model_bin("float16");
  const std::string bias = "encoder/layer_0/self_attention/linear_0/bias";
  const auto values = file.find(bias) + bias.size() + 1 + 1 + 4 + 1 + 4;
  file[values + 2 * 24] = 1;  // after the bias of 24 queries
  EXPECT_THAT(error_of(file), AllOf(HasSubstr(bias), HasSubstr("bias of the keys")));
}

TEST(Ctranslate2, UnsupportedModelsAreRefusedByTheDifference) {
  auto file = model_bin("float16");
  EXPECT_THAT(error_of(replaced(file, "WhisperSpec", "MarianMTSpc")), HasSubstr("MarianMTSpc"));
  const std::string activation = "decoder/activation";
  file[file.find(activation) + activation.size() + 1 + 1 + 1 + 4] = 0;
  EXPECT_THAT(error_of(file), AllOf(HasSubstr(activation), HasSubstr("is 0"), HasSubstr("Whisper's is 3")));
  EXPECT_THAT(error_of("\x07" + file.substr(1)), HasSubstr("binary version 4 to 6"));
}

}  // namespace
}  // namespace tutti
