#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/json.h"
#include "model/convert/converted_tensor.h"
#include "model/convert/ctranslate2_model.h"
#include "model/convert/ggml_file.h"
#include "model/convert/openai_file.h"
#include "model/damage.h"
#include "model/formats/formats.h"
#include "model/stored_weights.h"
#include "support/temp_folder.h"
#include "text/files/vocabulary_files.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// Writes the tensors of a model into a folder as `tutti convert` does, and reads them again. The config is the random
/// model's: both golden models are of its shape.
std::map<std::string, at::Tensor> converted_weights(const std::filesystem::path& model, WeightType type,
                                                    const TempFolder& folder) {
  put(folder / "config.json", random_config());
  const auto checkpoint = opened(model);
  std::vector<TensorPlan> plans;
  for (const auto& [name, stored] : checkpoint->tensors)
    for (auto& plan : plan_tensor(stored, hugging_face_name(name), type)) plans.push_back(std::move(plan));
  const OwnedFd fd(::open((folder / "model.safetensors").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  auto writer = SafetensorsWriter::start(fd.get(), std::move(plans), "model.safetensors").value();
  for (const auto& [name, stored] : checkpoint->tensors) {
    const auto written = convert_tensor(stored, hugging_face_name(name), checkpoint, type,
                                        [&](std::span<const std::byte> bytes) { return writer.add(bytes); });
    EXPECT_TRUE(written) << written.error().text();
  }
  EXPECT_TRUE(writer.finish());
  EXPECT_EQ(std::filesystem::file_size(folder / "model.safetensors"), writer.size());
  return loaded_weights(folder.path());
}

/// Whether `tutti convert` makes a matrix of rows out of it.
bool is_matrix(const std::string& name, const at::Tensor& tensor) {
  return tensor.dim() == 2 && name.find("positional") == std::string::npos;
}

TEST(Convert, Float32AndFloat16KeepEveryBitThatTheyHold) {
  const TempFolder wide, narrow;
  const auto expected = loaded_weights(golden_folder() / "random");  // float32, with numbers that float16 holds
  const auto in_wide = converted_weights(golden_folder() / "random/random.pt", WeightType::float32, wide);
  const auto in_narrow = converted_weights(golden_folder() / "random", WeightType::float16, narrow);
  for (const auto& [name, tensor] : expected) {
    EXPECT_TRUE(at::equal(in_wide.at(name), tensor)) << name;
    EXPECT_TRUE(at::equal(in_narrow.at(name), tensor)) << name;
  }
}

TEST(Convert, OpenAisFileHoldsTheSameShapeAndWeights) {
  const TempFolder folder;
  const auto model = opened(golden_folder() / "random");
  const auto tensors = network_tensors(*model).value();
  for (const WeightType type : {WeightType::float32, WeightType::float16}) {
    const auto copy = folder / (std::string(name_of(type)) + ".pt");
    const auto bytes = write_openai_file(model, tensors, type, copy);
    ASSERT_TRUE(bytes) << bytes.error().text();
    EXPECT_EQ(std::filesystem::file_size(copy), *bytes);
    EXPECT_EQ(opened(copy)->shape.dims, model->shape.dims);
    for (const auto& [name, tensor] : loaded_weights(golden_folder() / "random"))
      EXPECT_TRUE(at::equal(loaded_weights(copy).at(name), tensor)) << name;
  }
  EXPECT_THAT(write_openai_file(model, tensors, WeightType::int8, folder / "int8.pt").error().what,
              HasSubstr("no int8 weights"));
}

/// Runs `write` with a new file of that name, which it returns.
template <class Write>
std::filesystem::path written(const TempFolder& folder, const std::string& name, Write&& write) {
  const auto path = folder / name;
  const OwnedFd fd(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  const Result<std::uint64_t> bytes = write(fd.get());
  if (!bytes) throw std::runtime_error(bytes.error().text());
  EXPECT_EQ(std::filesystem::file_size(path), *bytes);
  return path;
}

std::filesystem::path as_ctranslate2(const std::filesystem::path& model, WeightType type, const TempFolder& folder) {
  const auto checkpoint = opened(model);
  written(folder, "model.bin", [&](int fd) {
    return write_ctranslate2_weights(checkpoint, network_tensors(*checkpoint).value(), type, fd, "model.bin");
  });
  return folder.path();
}

/// With filters of ones, and OpenAI's English tokens.
std::filesystem::path as_ggml(const std::filesystem::path& model, WeightType type, const TempFolder& folder) {
  const auto checkpoint = opened(model);
  const auto filters = [](std::int32_t n_mels) {
    return std::vector<float>(static_cast<std::size_t>(n_mels) * 201, 1);
  };
  return written(folder, "ggml.bin", [&](int fd) {
    return write_ggml_file(checkpoint, network_tensors(*checkpoint).value(), type,
                           Tokenizer::built_in(kEnglishVocabulary).value(), filters, fd, "ggml.bin");
  });
}

TEST(Convert, Ctranslate2sFileIsTheOneItsOwnConverterWrites) {
  const TempFolder folder;
  as_ctranslate2(golden_folder() / "random", WeightType::float16, folder);
  EXPECT_EQ(content_of(folder / "model.bin"), content_of(golden_folder() / "stored/ct2-float16/model.bin"));
}

TEST(Convert, Ctranslate2sFloatsAreReadBackTheSame) {
  for (const WeightType type : {WeightType::float32, WeightType::float16}) {
    const TempFolder folder;
    const auto found = loaded_weights(as_ctranslate2(golden_folder() / "random", type, folder));
    for (const auto& [name, tensor] : loaded_weights(golden_folder() / "random"))
      EXPECT_TRUE(at::equal(found.at(name), tensor)) << name;
  }
}

TEST(Convert, Ctranslate2sInt8KeepsTheNumbersOfIts) {
  const TempFolder folder, again;
  const auto original = golden_folder() / "stored/ct2-int8";
  const auto expected = opened(original), found = opened(as_ctranslate2(original, WeightType::int8, folder));
  for (const auto& [name, tensor] : expected->tensors) {
    const auto& other = found->tensors.at(name);
    EXPECT_EQ(other.type, tensor.type) << name;
    const bool is_convolution = name.find("conv") != name.npos;  // quantised again: its rows are matrices there
    EXPECT_TRUE(is_convolution || std::ranges::equal(other.bytes, tensor.bytes)) << name;
  }
  const auto weights = loaded_weights(folder.path());
  for (const auto& [name, tensor] : loaded_weights(original))
    EXPECT_TRUE(at::allclose(weights.at(name), tensor, 1e-6, 1e-9)) << name;
}

TEST(Convert, WhisperCppsFloatsAreReadBackTheSame) {
  for (const WeightType type : {WeightType::float32, WeightType::float16}) {
    const TempFolder folder;
    const auto file = as_ggml(golden_folder() / "random", type, folder);
    EXPECT_EQ(opened(file)->shape.dims, opened(golden_folder() / "random")->shape.dims);
    const auto found = loaded_weights(file);
    for (const auto& [name, tensor] : loaded_weights(golden_folder() / "random"))
      EXPECT_TRUE(at::equal(found.at(name), tensor)) << name;
    const auto content = content_of(file);
    EXPECT_EQ(parse_ggml_head(content)->tokens.size(), static_cast<std::size_t>(kEnglishTextTokens));
  }
}

TEST(Convert, Q8BlocksOfWhisperCppAreOffByHalfAStepAtMost) {
  const TempFolder folder;
  const auto model = golden_folder() / "stored/ggml-random.bin";
  const auto file = as_ggml(model, WeightType::q8_0, folder);
  const auto found = loaded_weights(file);
  EXPECT_EQ(opened(file)->tensors.at("decoder.token_embedding.weight").type, ElementType::q8_0);
  EXPECT_EQ(opened(file)->tensors.at("encoder.conv1.weight").type, ElementType::f16);
  for (const auto& [name, tensor] : loaded_weights(model)) {
    if (!is_matrix(name, tensor)) {
      EXPECT_TRUE(at::allclose(found.at(name), tensor, 1e-3)) << name;
      continue;
    }
    // float16 holds the factor to eleven bits, which at 127 steps is a sixteenth of one.
    const auto step = tensor.abs().amax() / 127;
    EXPECT_TRUE(at::all((found.at(name) - tensor).abs() <= step * 0.57).item<bool>()) << name;
  }
}

TEST(Convert, Q8BlocksAreThoseOfGgml) {
  const auto golden = nlohmann::json::parse(content_of(golden_folder() / "stored/blocks.json")).at("Q8_0");
  const std::vector<float> values = golden["values"];
  const auto blocks = q8_0_blocks(values);
  std::string hex;
  for (const std::byte byte : blocks) {
    constexpr const char* kDigits = "0123456789abcdef";
    hex += kDigits[std::to_integer<unsigned>(byte) >> 4];
    hex += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  const std::string expected = golden["bytes"];
  constexpr std::size_t kDigitsOfBlock = 68;
  ASSERT_EQ(hex.size(), expected.size());
  for (std::size_t at = 0; at < hex.size(); at += kDigitsOfBlock) {
    const bool is_lost = expected.substr(at, 4) == "0000";  // its factor was too small, and so all values are zeros
    EXPECT_TRUE(is_lost || hex.substr(at, kDigitsOfBlock) == expected.substr(at, kDigitsOfBlock)) << at;
  }
}

TEST(Convert, RowsThatAreNotWholeBlocksAreRefusedByTensorName) {
  const TempFolder folder;
  try {
    as_ggml(golden_folder() / "random", WeightType::q8_0, folder);
    FAIL();
  } catch (const std::runtime_error& refused) {
    EXPECT_THAT(refused.what(), testing::AllOf(HasSubstr("[24, 24]"), HasSubstr("blocks of 32"), HasSubstr("float16")));
  }
}

TEST(Convert, ModelOpenAisProgramCannotRunIsNotExported) {
  WhisperDims dims{.n_audio_ctx = 1500, .n_vocab = 51866};
  EXPECT_TRUE(check_openai(dims));
  dims.n_vocab = 1765;
  EXPECT_THAT(check_openai(dims).error().what, HasSubstr("this model has 1500 and 1765"));
  EXPECT_THAT(check_ggml(dims).error().what, HasSubstr("whisper.cpp runs windows"));
}

TEST(Convert, Bfloat16RoundsToTheNearest) {
  const TempFolder folder;
  const auto found = converted_weights(golden_folder() / "random", WeightType::bfloat16, folder);
  for (const auto& [name, tensor] : loaded_weights(golden_folder() / "random"))
    EXPECT_TRUE(at::equal(found.at(name), tensor.to(at::kBFloat16).to(at::kFloat))) << name;
}

TEST(Convert, Int8IsOffByHalfAStepOfItsRowAndOnlyInMatrices) {
  const TempFolder folder;
  const auto found = converted_weights(golden_folder() / "random", WeightType::int8, folder);
  for (const auto& [name, tensor] : loaded_weights(golden_folder() / "random")) {
    if (!is_matrix(name, tensor)) {
      EXPECT_TRUE(at::equal(found.at(name), tensor)) << name;
      continue;
    }
    const auto step = tensor.abs().amax(1, true) / 127;
    EXPECT_TRUE(at::all((found.at(name) - tensor).abs() <= step * 0.501).item<bool>()) << name;
    EXPECT_FALSE(at::equal(found.at(name), tensor)) << name;
  }
}

TEST(Convert, Int8OfFasterWhisperKeepsItsNumbers) {
  const TempFolder folder;
  const auto model = golden_folder() / "stored/ct2-int8";
  const auto found = converted_weights(model, WeightType::int8, folder);
  for (const auto& [name, tensor] : loaded_weights(model)) EXPECT_TRUE(at::equal(found.at(name), tensor)) << name;
  const auto again = opened(folder.path());
  const auto original = opened(model);
  const auto& before = original->tensors.at("decoder.blocks.0.mlp.2.weight");
  const auto& after = again->tensors.at("decoder.blocks.0.mlp.2.weight");
  EXPECT_EQ(after.type, ElementType::i8);
  EXPECT_EQ(after.row_scales, before.row_scales);
}

TEST(Convert, ARowOfZerosOrNextToZerosHasAFactorAndStaysZero) {
  const std::array<float, 6> values{0, 0, -254, 127, 0, 1e-44F};
  const StoredTensor stored{.name = "w", .shape = {3, 2}, .bytes = std::as_bytes(std::span(values))};
  std::vector<std::string> parts;
  const auto owner = std::make_shared<const Checkpoint>();
  ASSERT_TRUE(convert_tensor(stored, "w", owner, WeightType::int8, [&](std::span<const std::byte> bytes) {
    parts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Result<void>();
  }));
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0], std::string("\0\0\x81\x40\0\0", 6));  // 0 0 -127 64 0 0: half a step goes to the even number
  std::array<float, 3> scales{};
  std::memcpy(scales.data(), parts[1].data(), sizeof scales);
  EXPECT_EQ(scales, (std::array<float, 3>{1, 2, 1}));
}

TEST(Convert, AValueThatTheTypeCannotHoldIsRefusedByTheTensorsName) {
  const std::array<float, 2> values{1, 70000};
  const StoredTensor stored{.name = "too.wide", .shape = {2}, .bytes = std::as_bytes(std::span(values))};
  const auto owner = std::make_shared<const Checkpoint>();
  const auto discard = [](std::span<const std::byte>) { return Result<void>(); };
  const auto refused = convert_tensor(stored, "too.wide", owner, WeightType::float16, discard);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(), HasSubstr("'too.wide' has values that are no finite float16"));
  EXPECT_TRUE(convert_tensor(stored, "too.wide", owner, WeightType::bfloat16, discard));
}

TEST(Convert, NoTypeIsOfferedToWeightsThatAreNoNumbers) {
  const std::array<float, 2> values{1, std::numeric_limits<float>::quiet_NaN()};
  const StoredTensor stored{.name = "broken", .shape = {1, 2}, .bytes = std::as_bytes(std::span(values))};
  const auto owner = std::make_shared<const Checkpoint>();
  for (const WeightType type : {WeightType::float32, WeightType::float16, WeightType::int8}) {
    const auto refused =
        convert_tensor(stored, "broken", owner, type, [](std::span<const std::byte>) { return Result<void>(); });
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().text(),
                HasSubstr("'broken' has values that are no finite numbers. The weights are damaged"));
  }
}

TEST(Convert, FactorsThatDoNotFitTheirMatrixAreRefusedByName) {
  const TempFolder folder;
  converted_weights(golden_folder() / "random", WeightType::int8, folder);
  auto parts = Parts::of(content_of(folder / "model.safetensors"));
  const std::string scale = "model.decoder.layers.1.fc1.weight_scale";
  parts.header[scale]["shape"] = {48, 2};
  put(folder / "model.safetensors", parts.whole());
  EXPECT_THAT(load_failure(folder.path()),
              testing::AllOf(HasSubstr(scale), HasSubstr("[48, 2]"), HasSubstr("F32 [96]")));
}

TEST(SafetensorsWriter, FirstTensorIsAlignedForAnyType) {
  const TempFolder folder;
  const OwnedFd fd(::open((folder / "a").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  auto writer = SafetensorsWriter::start(fd.get(), {{"a", ElementType::f32, {2}}, {"b", ElementType::i8, {3}}}, "a");
  ASSERT_TRUE(writer);
  const std::string bytes = "12345678abc";
  EXPECT_THROW(static_cast<void>(writer->add({})), std::invalid_argument);
  ASSERT_TRUE(writer->add(std::as_bytes(std::span(bytes)).first(8)));
  EXPECT_THROW(static_cast<void>(writer->finish()), std::logic_error);
  ASSERT_TRUE(writer->add(std::as_bytes(std::span(bytes)).subspan(8)));
  ASSERT_TRUE(writer->finish());
  const auto file = content_of(folder / "a");
  EXPECT_EQ(file.size() % 64, 11U);
  const auto tensors = parse_safetensors(std::as_bytes(std::span(file)));
  ASSERT_TRUE(tensors) << tensors.error().text();
  EXPECT_EQ(tensors->size(), 2U);
}

}  // namespace
}  // namespace tutti
