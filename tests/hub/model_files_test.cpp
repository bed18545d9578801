#include "hub/model_files.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "hub/hub_server.h"
#include "support/temp_folder.h"
#include "support/test_models.h"

using namespace tutti;
using Names = std::vector<std::string>;

TEST(NeededFiles, LargeModelsOfferedInSeveralFormsAreTakenOnce) {
  EXPECT_EQ(needed_files({"README.md", "added_tokens.json", "config.json", "flax_model.msgpack",
                          "generation_config.json", "merges.txt", "model.fp32-00001-of-00002.safetensors",
                          "model.safetensors", "model.safetensors.index.fp32.json", "preprocessor_config.json",
                          "pytorch_model.bin", "tokenizer.json", "vocab.json"}),
            (Names{"config.json", "generation_config.json", "model.safetensors", "preprocessor_config.json",
                   "tokenizer.json"}));
}

TEST(NeededFiles, ShardsComeWithTheirIndex) {
  EXPECT_EQ(needed_files({"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                          "model.safetensors.index.json", "model-../-of-x.safetensors", "tokenizer.json"}),
            (Names{"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                   "model.safetensors.index.json", "tokenizer.json"}));
}

TEST(NeededFiles, OnlyTheTokenizerFilesThatAreReadAreNeeded) {
  EXPECT_EQ(needed_files({"config.json", "merges.txt", "model.safetensors", "vocab.json"}),
            (Names{"config.json", "merges.txt", "model.safetensors", "vocab.json"}));
  EXPECT_EQ(needed_files({"added_tokens.json", "config.json", "merges.txt", "model.safetensors", "normalizer.json",
                          "tokenizer_config.json", "vocab.json"}),
            (Names{"added_tokens.json", "config.json", "merges.txt", "model.safetensors", "tokenizer_config.json",
                   "vocab.json"}));
  EXPECT_EQ(needed_files({"config.json", "model.safetensors", "vocab.json"}),
            (Names{"config.json", "model.safetensors"}));
  EXPECT_EQ(needed_files({"config.json", "model.safetensors", "multilingual.tiktoken"}),
            (Names{"config.json", "model.safetensors", "multilingual.tiktoken"}));
  EXPECT_EQ(tokenizer_files_among({"a.tiktoken", "b.tiktoken"}), Names{}) << "which of them is not known";
}

TEST(NeededFiles, FasterWhispersWeightsComeWithTheirVocabulary) {
  EXPECT_EQ(
      needed_files({".gitattributes", "README.md", "config.json", "model.bin", "tokenizer.json", "vocabulary.txt"}),
      (Names{"config.json", "model.bin", "tokenizer.json"}));
  EXPECT_EQ(needed_files({"config.json", "model.bin", "vocabulary.json"}),
            (Names{"config.json", "model.bin", "vocabulary.json"}));
  EXPECT_TRUE(needed_files({"config.json", "model.bin"}).empty());
}

TEST(NeededFiles, PickledWeightsAloneAreNoModel) {
  EXPECT_TRUE(needed_files({"config.json", "pytorch_model.bin"}).empty());
}

TEST(InspectModel, AWholeFolderIsCompleteAndWeighsWhatItsFilesWeigh) {
  const TempFolder folder;
  write_model(folder / "m");
  const auto model = inspect_model(folder / "m");
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->complete());
  EXPECT_GT(model->size, 4000);
  EXPECT_EQ(model->kind, ModelKind::hugging_face);
}

TEST(InspectModel, AFolderIsCompleteWithWhatTheTokenizerIsReadFromAndOnlyThen) {
  const TempFolder folder;
  write_model(folder / "m");
  std::filesystem::remove(folder / "m/tokenizer.json");
  ASSERT_TRUE(write_file_atomically(folder / "m/vocab.json", "{}"));
  EXPECT_FALSE(inspect_model(folder / "m")->complete());
  ASSERT_TRUE(write_file_atomically(folder / "m/merges.txt", ""));
  EXPECT_TRUE(inspect_model(folder / "m")->complete());
  std::filesystem::remove(folder / "m/vocab.json");
  ASSERT_TRUE(write_file_atomically(folder / "m/multilingual.tiktoken", ""));
  EXPECT_TRUE(inspect_model(folder / "m")->complete());
}

TEST(InspectModel, TruncatedWeightsAreDetected) {
  const TempFolder folder;
  write_model(folder / "m");
  const auto weights = read_file(folder / "m/model.safetensors").value();
  for (const std::size_t size : {weights.size() - 1, std::size_t{50}, std::size_t{8}, std::size_t{0}}) {
    ASSERT_TRUE(write_file_atomically(folder / "m/model.safetensors", weights.substr(0, size)));
    const auto model = inspect_model(folder / "m");
    ASSERT_TRUE(model);
    ASSERT_EQ(model->missing.size(), 1U) << size;
    EXPECT_NE(model->missing[0].find("model.safetensors"), std::string::npos);
  }
}

TEST(InspectModel, TheFirstTensorThatIsCutOffIsNamed) {
  const TempFolder folder;
  write_model(folder / "m");
  const std::string header = R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[8,12]},)"
                             R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]},)"
                             R"("c":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
  std::string file(8, '\0');
  file[0] = static_cast<char>(header.size());
  ASSERT_TRUE(write_file_atomically(folder / "m/model.safetensors", file + header + "cccc+b"));
  const auto model = inspect_model(folder / "m");
  ASSERT_TRUE(model);
  const auto size = 8 + header.size();
  EXPECT_EQ(model->missing, Names{"model.safetensors has " + std::to_string(size + 6) + " bytes of " +
                                  std::to_string(size + 12) + ", the first tensor that is cut off is 'b'"});
}

TEST(InspectModel, AMissingShardIsNamed) {
  const TempFolder folder;
  write_model(folder / "m");
  std::filesystem::rename(folder / "m/model.safetensors", folder / "m/model-00001-of-00002.safetensors");
  ASSERT_TRUE(write_file_atomically(
      folder / "m/model.safetensors.index.json",
      R"({"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}})"));
  const auto model = inspect_model(folder / "m");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->missing, Names{"model-00002-of-00002.safetensors is not there"});
}

TEST(InspectModel, UnreadableWeightsAreNotReportedAsAbsent) {
  const TempFolder folder;
  write_model(folder / "m");
  std::filesystem::remove(folder / "m/model.safetensors");
  std::filesystem::create_directory(folder / "m/model.safetensors");
  const auto model = inspect_model(folder / "m");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->missing, Names{(folder / "m/model.safetensors").string() + ": expected a regular file"});
}

TEST(InspectModel, ALinkThatLeadsInACircleIsNoFile) {
  const TempFolder folder;
  write_model(folder / "m");
  std::filesystem::remove(folder / "m/model.safetensors");
  for (const char* name : {"model.safetensors.index.json", "pytorch_model.bin"})
    std::filesystem::create_symlink(name, folder / "m" / name);
  const auto model = inspect_model(folder / "m");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->missing, Names{"model.safetensors is not there"});
}

TEST(InspectModel, PickledWeightsAreReportedAsNotRead) {
  const TempFolder folder;
  write_model(folder / "m");
  std::filesystem::rename(folder / "m/model.safetensors", folder / "m/pytorch_model.bin");
  const auto model = inspect_model(folder / "m");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->missing, Names{"model.safetensors is not there, and pytorch_model.bin is not read: let transformers "
                                  "save the model again, as safetensors"});
}

TEST(InspectModel, OtherFoldersAndFilesAreNoModels) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "bert/config.json", R"({"model_type": "bert"})"));
  ASSERT_TRUE(write_file_atomically(folder / "odd/config.json", R"(["whisper"])"));
  ASSERT_TRUE(write_file_atomically(folder / "a.txt", "x"));
  EXPECT_FALSE(inspect_model(folder / "bert"));
  EXPECT_FALSE(inspect_model(folder / "odd"));
  EXPECT_FALSE(inspect_model(folder / "a.txt"));
  EXPECT_FALSE(inspect_model(folder / "nowhere"));
}

TEST(InspectModel, ACheckpointThatWasCutOffLacksItsDirectory) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "whole.pt", std::string(200'000, 'x') + "PK\5\6" + std::string(18, '\0')));
  ASSERT_TRUE(write_file_atomically(folder / "cut.pt", "PK\3\4" + std::string(200'000, 'x')));
  EXPECT_TRUE(inspect_model(folder / "whole.pt")->complete());
  EXPECT_EQ(inspect_model(folder / "whole.pt")->kind, ModelKind::openai);
  EXPECT_FALSE(inspect_model(folder / "cut.pt")->complete());
}

TEST(InspectModel, AFasterWhisperFolderIsKnownByItsWeightsFirstBytes) {
  const TempFolder folder;
  const auto model_bin = [](const std::string& spec) {
    return std::string("\6\0\0\0", 4) + static_cast<char>(spec.size() + 1) + '\0' + spec + '\0' + "and so on";
  };
  ASSERT_TRUE(write_file_atomically(folder / "fw/model.bin", model_bin("WhisperSpec")));
  ASSERT_TRUE(write_file_atomically(folder / "fw/config.json", R"({"lang_ids": []})"));
  EXPECT_EQ(kind_of(folder / "fw"), ModelKind::ctranslate2);
  EXPECT_EQ(inspect_model(folder / "fw")->missing,
            Names{"tokenizer.json is not there, nor vocab.json with merges.txt, nor vocabulary.json or .txt, nor one "
                  ".tiktoken"});
  ASSERT_TRUE(write_file_atomically(folder / "fw/vocabulary.txt", "!\n"));
  EXPECT_TRUE(inspect_model(folder / "fw")->complete());
  ASSERT_TRUE(write_file_atomically(folder / "other/model.bin", model_bin("TransformerSpec")));
  EXPECT_FALSE(kind_of(folder / "other"));
}

TEST(InspectModel, AFileOfWhisperCppIsKnownByItsMark) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "ggml-tiny.bin", "lmgg and so on"));
  ASSERT_TRUE(write_file_atomically(folder / "other.bin", "lmg"));
  const auto model = inspect_model(folder / "ggml-tiny.bin");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->kind, ModelKind::ggml);
  EXPECT_EQ(model->size, 14);
  EXPECT_FALSE(inspect_model(folder / "other.bin"));
}

TEST(InspectModel, AWholeModelIsCompleteAndWeightsAloneAreNone) {
  const auto model = inspect_model(digits_model());
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->complete());
  const TempFolder folder;
  put_model_without_embedding(folder.path());
  for (const char* name : {"config.json", "tokenizer.json", "generation_config.json"})
    std::filesystem::remove(folder / name);
  EXPECT_FALSE(inspect_model(folder.path()));
}
