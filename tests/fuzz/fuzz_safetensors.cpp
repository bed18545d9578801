#include "model/stored/dims.h"
#include "model/stored/safetensors.h"
#include "stored_bounds.h"

// Every tensor of a file that is accepted must lie inside the file and be as long as its shape says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto tensors = tutti::parse_safetensors(bytes)) {
    for (const auto& tensor : *tensors) tutti::expect_inside(tensor, bytes);
  }
  (void)tutti::parse_hugging_face_config({reinterpret_cast<const char*>(data), size});
  return 0;
}
