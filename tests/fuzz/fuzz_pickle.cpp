#include "model/formats/formats.h"
#include "model/formats/pickle.h"
#include "stored_bounds.h"

// As a whole .pt (the archive around the pickle), and as the pickle alone: a random archive rarely holds one.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  if (const auto model = tutti::parse_openai_pt(bytes)) {
    for (const auto& tensor : model->tensors) tutti::expect_inside(tensor, bytes);
  }
  if (const auto pickle = tutti::parse_pickle(bytes)) {
    for (const auto& node : pickle->nodes) {
      for (const auto item : node.items) {
        if (item >= pickle->nodes.size()) std::abort();
      }
    }
  }
  return 0;
}
