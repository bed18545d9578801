// What the control process receives from a worker: one message, one of ours damaged, and a whole stream of frames.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "../link/samples.h"
#include "fuzz_link.h"
#include "link/wire.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  tutti::fuzz_message(bytes, tutti::decode_to_control);
  tutti::fuzz_edited(tutti::sample_reports(), bytes, tutti::decode_to_control);
  tutti::fuzz_stream(bytes, tutti::decode_to_control);
  return 0;
}
