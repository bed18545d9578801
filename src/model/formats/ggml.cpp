#include <algorithm>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/try.h"
#include "model/formats/formats.h"
#include "text/files/vocabulary_files.h"

namespace tutti {
namespace {

constexpr std::int32_t kVersionFactor = 1000;  // factor of the block version in file_type, GGML_QNT_VERSION_FACTOR
constexpr std::int32_t kBlockVersion = 2;      // the layout of blocks since May 2023
constexpr std::int32_t kMostDimensions = 4;
constexpr std::int32_t kLongestName = 256;

std::optional<ElementType> element_type(std::int32_t ggml_type) {
  switch (ggml_type) {
    case 0: return ElementType::f32;
    case 1: return ElementType::f16;
    case 2: return ElementType::q4_0;
    case 3: return ElementType::q4_1;
    case 6: return ElementType::q5_0;
    case 7: return ElementType::q5_1;
    case 8: return ElementType::q8_0;
    case 12: return ElementType::q4_k;
    case 13: return ElementType::q5_k;
    case 14: return ElementType::q6_k;
    case 30: return ElementType::bf16;
    default: return std::nullopt;
  }
}

/// Reads one tensor after the other: dimensions, length of the name, type, extents (the fastest first), name, data.
class Reader {
 public:
  Reader(std::span<const std::byte> file, std::size_t at, std::int32_t block_version)
      : rest_(file.subspan(at)), size_(file.size()), block_version_(block_version) {}

  bool at_end() const { return rest_.left() == 0; }

  Result<StoredTensor> next() {
    const auto start = size_ - rest_.left();
    const auto dimensions = number();
    const auto name_size = number();
    const auto type = number();
    if (dimensions < 1 || dimensions > kMostDimensions || name_size < 1 || name_size > kLongestName)
      return fail(Fault::corrupt, "no tensor's description at byte " + std::to_string(start), "The file is damaged");
    StoredTensor tensor;
    for (std::int32_t i = 0; i < dimensions; ++i) tensor.shape.push_back(number());
    std::ranges::reverse(tensor.shape);
    tensor.name = rest_.bytes(static_cast<std::size_t>(name_size));
    if (rest_.failed())
      return fail(Fault::corrupt, "the file ends in the description of a tensor at byte " + std::to_string(start),
                  "It is truncated: get it again");
    return with_data(std::move(tensor), type);
  }

 private:
  std::int32_t number() { return rest_.number<std::int32_t>(); }

  Result<StoredTensor> with_data(StoredTensor tensor, std::int32_t ggml_type) {
    const auto thing = "tensor '" + tensor.name + "' " + shape_text(tensor.shape);
    const auto type = element_type(ggml_type);
    if (!type)
      return fail(Fault::unsupported, thing + ": its element type is ggml's number " + std::to_string(ggml_type),
                  "Known are f32, f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q4_k, q5_k and q6_k");
    if (block_of(*type) > 1 && block_version_ != kBlockVersion)
      return fail(Fault::unsupported,
                  thing + ": " + std::string(name_of(*type)) + " blocks of version " + std::to_string(block_version_) +
                      ", expected version " + std::to_string(kBlockVersion),
                  "Quantise the model again with a whisper.cpp from after May 2023");
    tensor.type = *type;
    const auto size = byte_count(tensor.shape, *type);
    if (!size) return fail(Fault::corrupt, thing + ": no shape of a " + std::string(name_of(*type)) + " tensor");
    const auto left = rest_.left();
    tensor.bytes = std::as_bytes(std::span(rest_.bytes(*size)));
    if (rest_.failed())
      return fail(Fault::corrupt,
                  thing + ": takes " + std::to_string(*size) + " bytes, but the file has only " + std::to_string(left) +
                      " more",
                  "It is truncated: get it again");
    // The biases of the convolutions are stored as columns.
    if (tensor.name.ends_with(".bias") && tensor.shape.size() == 2 && tensor.shape[1] == 1) tensor.shape.pop_back();
    return tensor;
  }

  ByteReader rest_;
  std::size_t size_;  // size of the whole file
  std::int32_t block_version_;
};

WhisperDims dims_of(const GgmlHead& head) {
  return {.n_mels = head.n_mels,
          .n_audio_ctx = head.n_audio_ctx,
          .n_audio_state = head.n_audio_state,
          .n_audio_head = head.n_audio_head,
          .n_audio_layer = head.n_audio_layer,
          .n_vocab = head.n_vocab,
          .n_text_ctx = head.n_text_ctx,
          .n_text_state = head.n_text_state,
          .n_text_head = head.n_text_head,
          .n_text_layer = head.n_text_layer};
}

}  // namespace

Result<GgmlModel> parse_ggml(std::span<const std::byte> file) {
  const auto head = TRY(parse_ggml_head({reinterpret_cast<const char*>(file.data()), file.size()}));
  GgmlModel model{.dims = dims_of(head)};
  for (Reader reader(file, head.tensors_at, head.file_type / kVersionFactor); !reader.at_end();) {
    auto tensor = TRY(reader.next());
    model.tensors.push_back(std::move(tensor));
  }
  return model;
}

}  // namespace tutti
