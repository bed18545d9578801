#include "model/alignment_heads.h"
#include "model/formats/checkpoint.h"
#include "model/formats/dims.h"
#include "model/formats/formats.h"
#include "stored_bounds.h"

namespace {

// The files beside the weights: a sharded model's index may name only files of its own folder, and a list of alignment
// heads only heads of the model.
void read_as_json(std::string_view text) {
  (void)tutti::parse_hugging_face_config(text);
  if (const auto shards = tutti::parse_shard_index(text))
    for (const auto& shard : *shards)
      if (shard.empty() || shard.find('/') != shard.npos) std::abort();
  const tutti::WhisperDims dims{.n_text_head = 6, .n_text_layer = 4};
  if (const auto heads = tutti::parse_alignment_heads(text, dims))
    for (const auto& [layer, head] : *heads)
      if (layer < 0 || layer >= dims.n_text_layer || head < 0 || head >= dims.n_text_head) std::abort();
}

}  // namespace

// Every tensor of an accepted file must be inside the file and as long as its shape requires.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto tensors = tutti::parse_safetensors(bytes)) {
    for (const auto& tensor : *tensors) tutti::expect_inside(tensor, bytes);
  }
  read_as_json({reinterpret_cast<const char*>(data), size});
  return 0;
}
