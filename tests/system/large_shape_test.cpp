// What large-v3 and turbo have and the shared model has not: 128 mels, 51866 tokens, a hundred languages, translation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/random/counter_random.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/tone_file.h"
#include "text/tokenizer.h"

using namespace tutti;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kWidth = 64;
constexpr int kVocabulary = 51866;
constexpr int kTimestampBegin = 50365;  // 0.00 s, of this vocabulary alone

/// Shapes by Hugging Face's names.
using Shapes = std::vector<std::pair<std::string, std::vector<int>>>;

void add_layer(Shapes& shapes, const std::string& name, int outputs, int inputs) {
  shapes.push_back({name + ".weight", {outputs, inputs}});
  if (!name.ends_with("k_proj")) shapes.push_back({name + ".bias", {outputs}});
}

void add_norm(Shapes& shapes, const std::string& name) {
  for (const char* part : {".weight", ".bias"}) shapes.push_back({name + part, {kWidth}});
}

/// One layer.
void add_half(Shapes& shapes, const std::string& half, const std::vector<std::string>& attentions) {
  const std::string block = half + ".layers.0.";
  for (const auto& attention : attentions) {
    for (const char* part : {".q_proj", ".k_proj", ".v_proj", ".out_proj"})
      add_layer(shapes, block + attention + part, kWidth, kWidth);
    add_norm(shapes, block + attention + "_layer_norm");
  }
  add_layer(shapes, block + "fc1", 4 * kWidth, kWidth);
  add_layer(shapes, block + "fc2", kWidth, 4 * kWidth);
  add_norm(shapes, block + "final_layer_norm");
  add_norm(shapes, half + ".layer_norm");
}

Shapes shapes() {
  Shapes shapes{{"model.encoder.conv1.weight", {kWidth, 128, 3}},
                {"model.encoder.conv1.bias", {kWidth}},
                {"model.encoder.conv2.weight", {kWidth, kWidth, 3}},
                {"model.encoder.conv2.bias", {kWidth}},
                {"model.encoder.embed_positions.weight", {1500, kWidth}},
                {"model.decoder.embed_positions.weight", {448, kWidth}},
                {"model.decoder.embed_tokens.weight", {kVocabulary, kWidth}}};
  add_half(shapes, "model.encoder", {"self_attn"});
  add_half(shapes, "model.decoder", {"self_attn", "encoder_attn"});
  return shapes;
}

/// `count` numbers of float16, of either sign and between 1/32 and 1/8; a norm's scales are 1.
std::string values(std::size_t count, bool ones, std::uint64_t& drawn) {
  std::string bytes;
  bytes.reserve(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t x = split_mixed(drawn++);
    const std::uint64_t bits = ones ? 0x3C00 : (x & 1) << 15 | (10 + (x >> 1 & 1)) << 10 | (x >> 2 & 0x3FF);
    bytes += {static_cast<char>(bits), static_cast<char>(bits >> 8)};
  }
  return bytes;
}

std::string safetensors() {
  Json header;
  std::string data;
  std::uint64_t drawn = 0;
  for (const auto& [name, shape] : shapes()) {
    std::size_t count = 1;
    for (const int extent : shape) count *= static_cast<std::size_t>(extent);
    const std::size_t begin = data.size();
    data += values(count, name.ends_with("norm.weight"), drawn);
    header[name] = {{"dtype", "F16"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
  }
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  return file + text + data;
}

void write_model(const std::filesystem::path& folder) {
  const Json config{{"model_type", "whisper"},      {"num_mel_bins", 128},           {"vocab_size", kVocabulary},
                    {"max_source_positions", 1500}, {"max_target_positions", 448},   {"d_model", kWidth},
                    {"encoder_layers", 1},          {"decoder_layers", 1},           {"encoder_attention_heads", 1},
                    {"decoder_attention_heads", 1}, {"encoder_ffn_dim", 4 * kWidth}, {"decoder_ffn_dim", 4 * kWidth}};
  ASSERT_TRUE(write_file_atomically(folder / "config.json", config.dump()));
  ASSERT_TRUE(write_file_atomically(folder / "model.safetensors", safetensors()));
  std::filesystem::copy(std::filesystem::path(TUTTI_SOURCE_DIR) / "data/multilingual.tiktoken", folder);
}

/// The tone's transcript as JSON. All output of the random weights is kept: no fallback, and nothing counts as silence.
Json transcript(const TempFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words{
      tutti_program(),        "transcribe",      "--model", (folder / "model").string(), "-q", "--output-dir",
      folder.path().string(), "--output-format", "json"};
  for (const char* flag : {"--temperature-increment-on-fallback", "--no-speech-threshold", "--beam-size"})
    words.insert(words.end(), {flag, "None"});
  words.insert(words.end(), {"--compute-type", "float32", (folder / "tone.wav").string()});
  words.insert(words.end(), more.begin(), more.end());
  std::filesystem::remove(folder / "tone.json");  // -q names what a run replaced
  const ProgramEnd end = run_program(words);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(end.err, "");
  return Json::parse(read_file(folder / "tone.json").value_or("null"));
}

std::vector<int> tokens_of(const Json& transcript) {
  std::vector<int> tokens;
  for (const auto& segment : transcript["segments"])
    for (const auto& token : segment["tokens"]) tokens.push_back(token);
  return tokens;
}

}  // namespace

TEST(LargeShape, TheLanguageIsDetectedAndTheTranslationBeginsWithIt) {
  const TempFolder folder;
  write_model(folder / "model");
  write_tone(folder / "tone.wav", 6, 440);
  const Json translated = transcript(folder, {"--task", "translate"});
  const auto codes = Tokenizer::built_in(kVocabulary).value().special().language_codes;
  EXPECT_EQ(codes.size(), 100U);
  const std::string language = translated["language"];
  EXPECT_NE(std::ranges::find(codes, language), codes.end()) << language;

  const auto tokens = tokens_of(translated);
  ASSERT_FALSE(tokens.empty());
  EXPECT_LT(std::ranges::max(tokens), kVocabulary);
  for (const auto& segment : translated["segments"])
    EXPECT_NEAR(segment["start"].get<double>(), 0.02 * (segment["tokens"][0].get<int>() - kTimestampBegin), 1e-9);

  EXPECT_EQ(tokens_of(transcript(folder, {"--task", "translate", "--language", language})), tokens)
      << "as where the language is named";
  EXPECT_NE(tokens_of(transcript(folder, {"--language", language})), tokens) << "the task is part of the prompt";
}
