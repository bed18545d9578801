#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "traces/trace_import.h"

// The first byte is how many bytes a read returns, 0 for as many as it can. Whatever the events are, a device's busy
// and idle time make up its span.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t most = data[0] == 0 ? size : data[0];
  std::size_t at = 1;
  const tutti::ReadText text = [&](std::span<char> out) -> tutti::Result<std::size_t> {
    const std::size_t count = std::min({most, out.size(), size - at});
    std::memcpy(out.data(), data + at, count);
    at += count;
    return count;
  };
  tutti::TraceCollector collector({});
  const auto rank = tutti::read_kineto(text, "fuzz", collector);
  if (!rank) return rank.error().what.find("byte ") == std::string::npos ? std::abort(), 1 : 0;
  const auto devices = collector.finish();
  if (!devices) std::abort();
  for (const auto& device : *devices) {
    const tutti::DeviceTrace& trace = device.trace;
    if (trace.busy + trace.idle.all() != trace.span || trace.idle.host_wait < 0) std::abort();
    if (trace.data_loading > trace.idle.host_wait || trace.synchronising > trace.idle.host_wait) std::abort();
  }
  (void)tutti::trace_text(*devices);
  (void)tutti::trace_json(*devices);
  return 0;
}
