// `tutti convert MODEL -o FOLDER`, as people run it.

#include <gtest/gtest.h>

#include <cstring>

#include "base/files.h"
#include "base/json.h"
#include "support/expect_output.h"
#include "support/run_program.h"
#include "support/stored_model.h"
#include "support/temp_folder.h"
#include "support/test_models.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

namespace fs = std::filesystem;

ProgramEnd convert(const std::string& model, const std::string& into, const std::string& type) {
  return run_program({tutti_program(), "convert", model, "-o", into, "--type", type});
}

/// Bytes of every tensor of a safetensors file, by name.
std::map<std::string, std::string> tensors_of(const fs::path& file) {
  const auto content = read_file(file).value();
  std::uint64_t length = 0;
  std::memcpy(&length, content.data(), sizeof length);
  const auto header = Json::parse(content.substr(sizeof length, length));
  std::map<std::string, std::string> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const std::size_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    tensors[name] = content.substr(sizeof length + length + begin, end - begin);
  }
  return tensors;
}

std::string text_of_clip(const std::string& model, const TempFolder& folder) {
  const ProgramEnd end = run_program({tutti_program(), "transcribe", "--model", model, "-f", "txt", "-o",
                                      folder.path().string(), "-q", TUTTI_SOURCE_DIR "/samples/george.wav"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  return read_file(folder / "george.txt").value_or("");
}

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST(ConvertModel, AnyFormatBecomesTheHuggingFaceFolderItCameFrom) {
  TUTTI_NEEDS_TINY_MODEL();
  const auto expected = tensors_of(hugging_face_model() + "/model.safetensors");
  const auto config = Json::parse(read_file(hugging_face_model() + "/config.json").value());
  const auto generation = Json::parse(read_file(hugging_face_model() + "/generation_config.json").value());
  for (const auto& [kind, name] : {std::pair("openai", "tiny.en.pt"), {"ctranslate2", "ct2"}, {"ggml", "ggml.bin"}}) {
    SCOPED_TRACE(kind);
    const TempFolder folder;
    const auto into = folder / "new";
    const ProgramEnd end = convert(stored_as(kind, name, folder), into.string(), "float16");
    ASSERT_EQ(end.exit_code, 0) << end.err;
    expect_output(end.out, "4 + 4 layers, 384 wide");
    EXPECT_EQ(tensors_of(into / "model.safetensors"), expected);
    const auto made = Json::parse(read_file(into / "config.json").value());
    for (const auto& [key, value] : made.items()) EXPECT_EQ(config[key], value) << key;
    const auto reports = Json::parse(read_file(into / "generation_config.json").value());
    for (const char* key : {"alignment_heads", "begin_suppress_tokens", "no_timestamps_token_id", "prev_sot_token_id"})
      EXPECT_EQ(reports[key], generation[key]) << key;
    EXPECT_EQ(text_of_clip(into.string(), folder), text_of_clip(hugging_face_model(), folder));
  }
}

TEST(ConvertModel, FormatsOfOthersAreReadBackToTheSameWeights) {
  TUTTI_NEEDS_TINY_MODEL();
  const auto expected = tensors_of(hugging_face_model() + "/model.safetensors");
  for (const auto& [format, name] : {std::pair("ctranslate2", "ct2"), {"ggml", "ggml-tiny"}}) {
    SCOPED_TRACE(format);
    const TempFolder folder;
    const ProgramEnd out = run_program(
        {tutti_program(), "convert", hugging_face_model(), "--to", format, "-o", (folder / name).string(), "-q"});
    ASSERT_EQ(out.exit_code, 0) << out.err;
    EXPECT_EQ(out.out, "");
    const ProgramEnd back = convert((folder / name).string(), (folder / "back").string(), "float16");
    ASSERT_EQ(back.exit_code, 0) << back.err;
    EXPECT_EQ(tensors_of(folder / "back/model.safetensors"), expected);
    const ProgramEnd twice =
        run_program({tutti_program(), "convert", hugging_face_model(), "--to", format, "-o", (folder / name).string()});
    EXPECT_EQ(twice.exit_code, 2);
    expect_output(twice.err, "exists");
  }
}

TEST(ConvertModel, FoldersKeepWhichAudioAModelGets) {
  const TempFolder folder;
  const auto into = [&](const char* format, const fs::path& from, const char* name) {
    return run_program({tutti_program(), "convert", from.string(), "--to", format, "-o", (folder / name).string()});
  };
  ASSERT_EQ(into("ctranslate2", TUTTI_SOURCE_DIR "/models/morse", "ct2").exit_code, 0);
  ASSERT_EQ(into("hf", folder / "ct2", "back").exit_code, 0);
  for (const char* name : {"ct2", "back"}) {
    const auto config = Json::parse(read_file(folder / name / "config.json").value());
    EXPECT_EQ(config["tutti_vad_method"], "keying") << name;
    EXPECT_EQ(config["tutti_audio_filter"], "keyed_tone") << name;
  }
}

TEST(ConvertModel, FilesThatCannotKeepWhichAudioAModelGetsWarn) {
  TUTTI_NEEDS_TINY_MODEL();
  const TempFolder folder;
  fs::copy(hugging_face_model(), folder / "keyed");
  auto config = Json::parse(read_file(folder / "keyed/config.json").value());
  config["tutti_audio_filter"] = "keyed_tone";
  fs::remove(folder / "keyed/config.json");
  ASSERT_TRUE(write_file_atomically(folder / "keyed/config.json", config.dump()));
  const ProgramEnd end = convert((folder / "keyed").string(), (folder / "keyed.pt").string(), "float16");
  EXPECT_EQ(end.exit_code, 0) << end.err;
  expect_output(end.err, "cannot hold \"tutti_audio_filter\"");
}

TEST(ConvertModel, TypesThatAFormatLacksAreRefused) {
  const TempFolder folder;
  const auto refused = [&](const char* format, const char* type) {
    const ProgramEnd end = run_program({tutti_program(), "convert", nano_model().string(), "--to", format, "--type",
                                        type, "-o", (folder / "new").string()});
    EXPECT_EQ(end.exit_code, 2) << format << " " << type;
    return end.err;
  };
  expect_output(refused("ggml", "int8"), "--type: whisper.cpp's files have float32, float16 or q8_0 weights here");
  expect_output(refused("ctranslate2", "q8_0"), "--to ggml");
  expect_output(refused("openai", "float16"), "ends in .pt");
  EXPECT_EQ(entries_in(folder.path()), 0U);
}

TEST(ConvertModel, Int8IsAQuarterOfFloat32AndSpeaks) {
  TUTTI_NEEDS_TINY_MODEL();
  const TempFolder folder;
  const auto into = folder / "int8";
  const ProgramEnd end = convert(hugging_face_model(), into.string(), "int8");
  ASSERT_EQ(end.exit_code, 0) << end.err;
  expect_output(end.out, "in int8");
  EXPECT_LT(fs::file_size(into / "model.safetensors"),
            fs::file_size(hugging_face_model() + "/model.safetensors") * 6 / 10);
  EXPECT_EQ(Json::parse(read_file(into / "config.json").value())["quantization_config"]["quant_method"], "tutti-int8");
  EXPECT_EQ(read_file(into / "tokenizer.json").value(), read_file(hugging_face_model() + "/tokenizer.json").value());
  EXPECT_FALSE(text_of_clip(into.string(), folder).empty());
}

TEST(ConvertModel, AFolderWithSomethingInItIsLeftAlone) {
  TUTTI_NEEDS_TINY_MODEL();
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "mine/notes.txt", "mine"));
  const ProgramEnd end = convert(hugging_face_model(), (folder / "mine").string(), "float16");
  EXPECT_EQ(end.exit_code, 2);
  expect_output(end.err, "exists and is not an empty folder");
  EXPECT_EQ(entries_in(folder / "mine"), 1U);
}

TEST(ConvertModel, AFileOfOpenAisMakesTheFoldersItIsToLieInToo) {
  TUTTI_NEEDS_TINY_MODEL();
  const TempFolder folder;
  const auto into = folder / "models/whisper/tiny.en.pt";
  const ProgramEnd end = convert(hugging_face_model(), into.string(), "float16");
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_GT(fs::file_size(into), 70'000'000U);
}

TEST(ConvertModel, AConversionThatFailsLeavesNothingBehind) {
  const TempFolder folder, model;
  put_model_without_embedding(model.path());
  const ProgramEnd incomplete = convert(model.path().string(), (folder / "new").string(), "float16");
  EXPECT_EQ(incomplete.exit_code, 4);
  expect_output(incomplete.err, "embed_tokens");

  const ProgramEnd full = run_program({"/bin/bash", "-c", "ulimit -f 1000; exec \"$@\"", "bash",
                                       std::string(TUTTI_BINARY_DIR) + "/bin/tutti-engine", "convert", "--model",
                                       nano_model(), "--into", (folder / "new").string()});
  EXPECT_EQ(full.exit_code, 4);
  expect_output(full.err, "could not be written");
  expect_output(full.err, "a file may have at most 1.0 MB here. Raise the limit");
  EXPECT_EQ(entries_in(folder.path()), 0U);
}

TEST(ConvertModel, InputThatIsNoTranscriptAndNoModelIsReported) {
  const TempFolder folder;
  const ProgramEnd end = convert((folder / "nothing.json").string(), folder.path().string(), "float16");
  EXPECT_EQ(end.exit_code, 3);
  expect_output(end.err, "nothing.json");
  const ProgramEnd nameless = run_program({tutti_program(), "convert", "tiny.en"});
  EXPECT_EQ(nameless.exit_code, 2);
  expect_output(nameless.err, "Name it with -o FOLDER");
}

TEST(ConvertModel, WhatIsNoModelIsNamedAsOneThatWasExpected) {
  for (const auto& [word, text] : {std::pair("no-such-thing", "neither a path that exists nor a model's name"),
                                   {TUTTI_SOURCE_DIR "/samples/george.wav", "is no Whisper model"}}) {
    const ProgramEnd end = run_program({tutti_program(), "convert", word, "--to", "hf", "-o", "/nowhere/at/all"});
    EXPECT_EQ(end.exit_code, 2);
    expect_output(end.err, text);
  }
}
