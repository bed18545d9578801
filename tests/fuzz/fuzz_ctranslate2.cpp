#include "model/formats/formats.h"
#include "stored_bounds.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto model = tutti::parse_ctranslate2_whisper(bytes))
    for (const auto& [name, tensor] : model->tensors) tutti::expect_inside(tensor, bytes);
  return 0;
}
