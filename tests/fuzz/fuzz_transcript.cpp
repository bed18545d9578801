#include <cstdint>

#include "transcript/transcript.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)tutti::read_transcript_json({reinterpret_cast<const char*>(data), size});
  return 0;
}
