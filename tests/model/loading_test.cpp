#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "model/damage.h"
#include "model/golden.h"
#include "model/weights.h"
#include "model/whisper.h"
#include "support/temp_folder.h"
#include "support/test_models.h"

namespace tutti {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kQuery = "model.encoder.layers.1.self_attn.q_proj.weight";

/// What loading this folder or file fails with.
std::string failure(const std::filesystem::path& path) {
  const auto model = WhisperModel::load(path, at::kCPU, ComputeType::float32);
  return model ? "loaded" : model.error().text();
}

/// What the random model's encoder makes of its golden mel.
at::Tensor encoded_by(const std::filesystem::path& path, ComputeType dtype = at::kFloat) {
  const auto model = WhisperModel::load(path, at::kCPU, dtype);
  if (!model) throw std::runtime_error(model.error().text());
  return model->encode(read_golden(golden_folder() / "random/golden.safetensors").at("mel"));
}

at::Tensor expected_encoding() {
  return read_golden(golden_folder() / "random/golden.safetensors").at("encoded")[0];
}

/// A folder with the random model, its weights file changed by `change`.
template <class Change>
void put_random_model(const std::filesystem::path& folder, Change&& change) {
  put(folder / "config.json", random_config());
  auto parts = Parts::of(random_weights_file());
  change(parts);
  put(folder / "model.safetensors", parts.whole());
}

/// Moves one tensor's bytes out of `parts`, offsets of the others closed up.
void remove_tensor(Parts& parts, const std::string& name) {
  const auto begin = parts.header[name]["data_offsets"][0].get<std::size_t>();
  const auto size = parts.header[name]["data_offsets"][1].get<std::size_t>() - begin;
  parts.header.erase(name);
  parts.data.erase(begin, size);
  for (auto& entry : parts.header) {
    if (!entry.contains("data_offsets") || entry["data_offsets"][0].get<std::size_t>() < begin) continue;
    for (auto& offset : entry["data_offsets"]) offset = offset.get<std::size_t>() - size;
  }
}

TEST(Loading, LayersThatTheConfigDoesNotHaveAreRefused) {
  const TempFolder folder;
  put_random_model(folder.path(), [](Parts&) {});
  auto config = nlohmann::json::parse(random_config());
  const int layers = config["decoder_layers"];
  config["decoder_layers"] = layers - 1;
  put(folder / "config.json", config.dump());
  EXPECT_THAT(failure(folder.path()), AllOf(HasSubstr("decoder.layers." + std::to_string(layers - 1)),
                                            HasSubstr("expected " + std::to_string(layers - 1) + " layers")));
}

TEST(Loading, OpenAiCheckpointsGiveTheSameModelAsTheHuggingFaceFolder) {
  EXPECT_LT(distance(encoded_by(golden_folder() / "random/random.pt"), expected_encoding()), 1e-5);
}

TEST(Loading, AModelInShardsIsTheSameModel) {
  const TempFolder folder;
  put(folder / "config.json", random_config());
  auto first = Parts::of(random_weights_file());
  auto second = first;
  nlohmann::json index;
  const auto header = first.header;
  for (const auto& [name, entry] : header.items()) {
    const bool in_first = name.find("encoder.layers.0") != std::string::npos;
    remove_tensor(in_first ? second : first, name);
    index["weight_map"][name] = in_first ? "model-00001-of-00002.safetensors" : "model-00002-of-00002.safetensors";
  }
  put(folder / "model-00001-of-00002.safetensors", first.whole());
  put(folder / "model-00002-of-00002.safetensors", second.whole());
  put(folder / "model.safetensors.index.json", index.dump());
  EXPECT_LT(distance(encoded_by(folder.path()), expected_encoding()), 1e-5);

  std::filesystem::remove(folder / "model-00001-of-00002.safetensors");
  EXPECT_THAT(failure(folder.path()), HasSubstr("model-00001-of-00002.safetensors"));
}

TEST(Loading, AnIndexThatPointsOutsideItsFolderIsRefused) {
  const TempFolder folder;
  put(folder / "config.json", random_config());
  put(folder / "model.safetensors.index.json", R"({"weight_map":{"a":"../elsewhere.safetensors"}})");
  EXPECT_THAT(failure(folder.path()), AllOf(HasSubstr("index.json"), HasSubstr("not in a file of this folder")));
}

TEST(Loading, WeightsAreReadWhereTheFileIsMapped) {
  for (const auto* name : {"random", "random/random.pt"}) {
    auto checkpoint = open_checkpoint(golden_folder() / name);
    ASSERT_TRUE(checkpoint) << checkpoint.error().text();
    const auto shared = std::make_shared<const Checkpoint>(std::move(*checkpoint));
    const auto weights = bind_weights(shared);
    ASSERT_TRUE(weights) << weights.error().text();
    const auto* embedding = static_cast<const std::byte*>(weights->tokens.const_data_ptr());
    const auto file = shared->files.front().bytes();
    EXPECT_GE(embedding, file.data());
    EXPECT_LT(embedding, file.data() + file.size());
  }
}

TEST(Loading, WeightsAtOddAddressesLoadAsWell) {
  const TempFolder folder;
  put(folder / "config.json", random_config());
  auto parts = Parts::of(random_weights_file());
  auto header = parts.header.dump();
  while ((header.size() % 8) != 1) header += ' ';
  put(folder / "model.safetensors", safetensors_of(header, parts.data));
  EXPECT_LT(distance(encoded_by(folder.path()), expected_encoding()), 1e-5);
}

TEST(Loading, ReducedPrecisionStaysCloseToFloat32) {
  for (const auto type : {ComputeType::bfloat16, ComputeType::int8, ComputeType::int8_float16}) {
    EXPECT_LT(distance(encoded_by(golden_folder() / "random", type), expected_encoding()), 0.1);
  }
}

TEST(Loading, AMissingTensorIsNamedInBothNamings) {
  const TempFolder folder;
  put_random_model(folder.path(), [](Parts& parts) { remove_tensor(parts, kQuery); });
  EXPECT_THAT(failure(folder.path()), AllOf(HasSubstr(kQuery), HasSubstr("encoder.blocks.1.attn.query.weight"),
                                            HasSubstr("expected [24, 24]")));
}

TEST(Loading, WeightsWithoutTheTokenEmbeddingAreRefusedByName) {
  const TempFolder folder;
  put_model_without_embedding(folder.path());
  const auto config = nlohmann::json::parse(read_file(folder / "config.json").value());
  const auto shape = "[" + config["vocab_size"].dump() + ", " + config["d_model"].dump() + "]";
  EXPECT_THAT(failure(folder.path()),
              AllOf(HasSubstr("decoder.token_embedding.weight"), HasSubstr("is missing"), HasSubstr(shape)));
}

TEST(Loading, ALinkThatLeadsToItselfIsAnErrorThatNamesTheFile) {
  const TempFolder folder;
  put(folder / "config.json", random_config());
  std::filesystem::create_symlink("model.safetensors", folder / "model.safetensors");
  EXPECT_THAT(failure(folder.path()), HasSubstr("model.safetensors: cannot be opened"));
}

TEST(Loading, AShapeThatDoesNotFitTheConfigIsNamedWithBothShapes) {
  const TempFolder folder;
  put_random_model(folder.path(), [](Parts& parts) { parts.header[kQuery]["shape"] = {12, 48}; });
  EXPECT_THAT(failure(folder.path()), AllOf(HasSubstr(kQuery), HasSubstr("[12, 48]"), HasSubstr("expected [24, 24]")));
}

TEST(Loading, IntegerWeightsAreRefusedByName) {
  const TempFolder folder;
  put_random_model(folder.path(), [](Parts& parts) { parts.header[kQuery]["dtype"] = "I32"; });
  EXPECT_THAT(failure(folder.path()), AllOf(HasSubstr(kQuery), HasSubstr("I32"), HasSubstr("expected F16")));
}

TEST(Loading, UnusedTensorIsAWarning) {
  const TempFolder folder;
  put_random_model(folder.path(), [](Parts& parts) {
    const auto end = parts.data.size();
    parts.data += "12345678";
    parts.header["model.extra"] = {{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {end, end + 8}}};
  });
  std::string warned;
  auto before = set_log_sink([&](Level, std::string_view text) { warned += text; });
  EXPECT_EQ(failure(folder.path()), "loaded");
  set_log_sink(std::move(before));
  EXPECT_THAT(warned, HasSubstr("model.extra"));
}

TEST(Loading, InvalidConfigsAreRefusedByField) {
  const auto with = [](const char* field, const nlohmann::json& value) {
    const TempFolder folder;
    auto config = nlohmann::json::parse(random_config());
    config[field] = value;
    put(folder / "config.json", config.dump());
    put(folder / "model.safetensors", random_weights_file());
    return failure(folder.path());
  };
  EXPECT_EQ(with("d_model", 24), "loaded");
  EXPECT_THAT(with("d_model", 0), HasSubstr("d_model"));
  EXPECT_THAT(with("d_model", -24), HasSubstr("d_model"));
  EXPECT_THAT(with("vocab_size", nullptr), HasSubstr("vocab_size"));
  EXPECT_THAT(with("vocab_size", 1e300), HasSubstr("vocab_size"));
  EXPECT_THAT(with("encoder_layers", 100000), HasSubstr("n_audio_layer"));
  EXPECT_THAT(with("decoder_attention_heads", 5), HasSubstr("heads"));
  EXPECT_THAT(with("model_type", "wav2vec2"), HasSubstr("wav2vec2"));
  EXPECT_THAT(with("activation_function", "relu"), HasSubstr("relu"));
  EXPECT_THAT(with("num_mel_bins", 9), AllOf(HasSubstr("conv1"), HasSubstr("[24, 9, 3]"), HasSubstr("[24, 8, 3]")));
}

TEST(Loading, APathThatIsNoModelIsAnErrorThatNamesIt) {
  const TempFolder folder;
  EXPECT_THAT(failure(folder / "nowhere"), HasSubstr("nowhere"));
  EXPECT_THAT(failure(folder.path()), HasSubstr("config.json"));
  put(folder / "text.pt", "hello");
  EXPECT_THAT(failure(folder / "text.pt"), HasSubstr("text.pt"));
}

}  // namespace
}  // namespace tutti
