#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/formats/dims.h"
#include "model/formats/stored_tensor.h"

namespace tutti {

/// OpenAI's name of a Whisper tensor that Hugging Face calls `name`: "model.encoder.layers.0.fc1.bias" ->
/// "encoder.blocks.0.mlp.0.bias". OpenAI's own names come back unchanged.
std::string openai_name(std::string_view name);

/// The other way round.
std::string hugging_face_name(std::string_view name);

/// Whether load-time arithmetic turns this tensor into floats: ggml's blocks, and integers with a scale per row. All
/// others are floats as they lie, or no weights.
bool is_quantised(const StoredTensor& tensor);

/// The values of row `row` of a quantised tensor as float32; `out` is as long as a row (the product of shape[1] and
/// on). Thread-safe.
void read_row(const StoredTensor& tensor, std::int64_t row, std::span<float> out);

/// IEEE half precision to single; exact.
float float_of_half(std::uint16_t half);

/// The tensors of a safetensors file whose bytes are `file` (format: github.com/huggingface/safetensors, README).
/// Nothing is trusted: header length and syntax, types, shapes, and that the tensors tile the data without gap or
/// overlap are checked, so that a truncated file is found here and not by a fault later. The results point into
/// `file`. Thread-safe.
Result<std::vector<StoredTensor>> parse_safetensors(std::span<const std::byte> file);

struct OpenAiModel {
  WhisperDims dims{};
  std::vector<StoredTensor> tensors{};
};

/// Reads OpenAI's .pt: what torch.save writes for {"dims": {...}, "model_state_dict": {...}}. Its pickle is read as
/// data and never executed; anything in it beyond dicts, numbers and torch tensors is an error that names it. The
/// tensors point into `file`. Thread-safe.
Result<OpenAiModel> parse_openai_pt(std::span<const std::byte> file);

/// The tensors of any other file of torch.save: of the dict that its dict has under `key`, or of its own where `key` is
/// empty. Read as parse_openai_pt reads. Thread-safe.
Result<std::vector<StoredTensor>> parse_torch_state(std::span<const std::byte> file, std::string_view key);

/// A member of an archive. Both fields point into the archive's bytes.
struct ZipMember {
  std::string_view name{};
  std::span<const std::byte> data{};
};

/// The members of a zip archive whose members are stored, not compressed, as torch.save writes them: their bytes can be
/// used where they lie. Reads the central directory, zip64 included (APPNOTE.TXT 4.3); nothing is trusted. Thread-safe.
Result<std::vector<ZipMember>> list_stored_zip(std::span<const std::byte> file);

struct GgmlModel {
  WhisperDims dims{};
  std::vector<StoredTensor> tensors{};  // OpenAI's names are the file's own
};

/// Reads a model file of whisper.cpp (ggml-tiny.en.bin): float32, float16, bfloat16, and the block types q4_0, q4_1,
/// q5_0, q5_1, q8_0, q4_k, q5_k and q6_k, which stay as they are. Nothing is trusted; an error names the tensor. The
/// tensors point into `file`. Thread-safe.
Result<GgmlModel> parse_ggml(std::span<const std::byte> file);

/// What a CTranslate2 model.bin holds. Scalars have an empty shape.
struct Ctranslate2Variables {
  std::string spec{};  // "WhisperSpec"
  std::uint32_t revision = 0;
  std::map<std::string, StoredTensor, std::less<>> by_name{};  // aliases resolved: the same bytes under each name
};

/// Reads the container alone (format: python/ctranslate2/specs/model_spec.py, binary versions 4 to 6): names, shapes,
/// types, bytes, aliases. Nothing is trusted; an error names the variable. The tensors point into `file`. Thread-safe.
Result<Ctranslate2Variables> parse_ctranslate2(std::span<const std::byte> file);

struct Ctranslate2Whisper {
  WhisperShape shape{};
  std::vector<std::pair<std::string, StoredTensor>>
      tensors{};  // by OpenAI's names; each keeps the name of its variable
};

/// Reads a CTranslate2 model.bin as a Whisper model. Its fused layers (query, key and value in one matrix) come apart
/// into views of their rows; int8 and int16 weights keep their numbers, their scales become factors. What the file has
/// beyond Whisper (another activation, post-norm, a bias of the keys) is an error that names it. The tensors point into
/// `file`. Thread-safe.
Result<Ctranslate2Whisper> parse_ctranslate2_whisper(std::span<const std::byte> file);

}  // namespace tutti
