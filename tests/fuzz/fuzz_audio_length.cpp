#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "audio/containers/audio_length.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::MemoryBytes bytes(std::as_bytes(std::span(data, size)));
  const auto length = tutti::audio_length(bytes);
  if (length && !(std::isfinite(length->count()) && length->count() > 0)) std::abort();
  return 0;
}
