// Speed of reading traces of other profilers: bytes of JSON a second, one core.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "traces/trace_import.h"

using namespace tutti;

namespace {

/// An event as Kineto prints it, with the arguments that recording shapes brings.
std::string event(const std::string& category, const std::string& name, std::int64_t ns, const std::string& arguments) {
  return "{\n    \"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name +
         "\", \"pid\": 32224, \"tid\": 32224,\n    \"ts\": " + std::to_string(5741930461325 + ns / 1000) + "." +
         std::to_string(1000 + ns % 1000).substr(1) + ", \"dur\": 3.200,\n    \"args\": {\n      " + arguments +
         "\n    }\n  }";
}

/// Operators, launches and kernels in the proportions of a training step.
std::string trace(std::size_t bytes) {
  std::string text = "{\n  \"schemaVersion\": 1,\n  \"traceEvents\": [\n  ";
  const std::string shapes =
      "\"External id\": 3589,\"Sequence number\": 63, \"Fwd thread id\": 0, \"Record function id\": 0, \"Input type\": "
      "[\"float\", \"Scalar\", \"Scalar\"], \"Input Dims\": [[640, 64], [], []], \"Ev Idx\": 4";
  for (std::int64_t i = 0; text.size() < bytes; ++i) {
    const std::string origin = "\"External id\": 17, \"correlation\": " + std::to_string(i);
    if (i > 0) text += ",\n  ";
    text +=
        event("cpu_op", "aten::select", 9000 * i, shapes) + ",\n  " +
        event("cpu_op", "aten::as_strided", 9000 * i + 500, shapes) + ",\n  " +
        event("cuda_runtime", "cudaLaunchKernel", 9000 * i + 900, "\"cbid\": 211, " + origin) + ",\n  " +
        event("kernel", "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)",
              9000 * i + 6000, "\"device\": 0, \"stream\": 7, \"grid\": [16, 1, 1], " + origin);
  }
  return text + "\n  ],\n  \"traceName\": \"x\"\n}\n";
}

void read(benchmark::State& state) {
  const std::string text = trace(64 << 20);
  for (auto _ : state) {
    TraceCollector collector({});
    const ReadText source = [&, at = std::size_t{0}](std::span<char> out) mutable -> Result<std::size_t> {
      const std::size_t count = std::min(out.size(), text.size() - at);
      std::memcpy(out.data(), text.data() + at, count);
      at += count;
      return count;
    };
    const auto rank = read_kineto(source, "bench", collector);
    const auto devices = collector.finish();
    if (!rank || !devices || devices->size() != 1) return state.SkipWithError("the trace was not read");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(read)->Name("traces/kineto")->Unit(benchmark::kMillisecond);

}  // namespace
