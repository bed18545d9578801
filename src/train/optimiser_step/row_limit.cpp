#include "train/optimiser_step/row_limit.h"

#include <sys/resource.h>

#include <stdexcept>

#include "base/numbers.h"
#include "model/device_name.h"
#include "model/gpu.h"

namespace tutti {
namespace {

constexpr std::string_view kBetween = " of ";

}  // namespace

Bytes memory_for(at::Device device) {
  if (device.is_cuda()) {
    const auto memory = gpu::memory(index_of(device));
    return memory ? memory->total : Bytes{};
  }
  rlimit limit{};
  const bool is_limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return {is_limited ? static_cast<std::int64_t>(limit.rlim_cur) : 0};
}

bool has_more(Bytes now, Bytes before) {
  return before.value > 0 && (now.value == 0 || now.value - before.value > before.value / 20);
}

std::string show_row_limit(const RowLimit& limit) {
  return std::to_string(limit.rows) + std::string(kBetween) + std::to_string(limit.memory.value);
}

RowLimit read_row_limit(std::string_view text) {
  const auto at = text.find(kBetween);
  const auto rows = number_in<std::int64_t>(text.substr(0, at));
  const auto memory = at == text.npos ? std::nullopt : number_in<std::int64_t>(text.substr(at + kBetween.size()));
  if (!rows || *rows < 0 || !memory)
    throw std::invalid_argument("'" + std::string(text) + "': expected 'ROWS of BYTES'");
  return {*rows, Bytes{*memory}};
}

}  // namespace tutti
