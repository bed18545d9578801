#include "model/cpu/matrix/kernels.h"

#include <array>

namespace tutti {
namespace {

using Tables = std::array<Kernels, 4>;  // one per precision

/// Filled at the first use: even the function that names a set's kernels is compiled to that set, and a processor
/// without it stops at the first instruction.
template <Kernels (*of)(WeightPrecision)>
const Tables& tables() {
  static const Tables filled{of(WeightPrecision::float32), of(WeightPrecision::bfloat16), of(WeightPrecision::int8),
                             of(WeightPrecision::int16)};
  return filled;
}

const Tables& tables_for(Instructions instructions) {
  switch (instructions) {
    case Instructions::amx: return tables<kernels_amx>();
    case Instructions::dot512: return tables<kernels_dot512>();
    case Instructions::avx512: return tables<kernels_avx512>();
    default: return tables<kernels_avx2>();
  }
}

}  // namespace

const Kernels& kernels(WeightPrecision precision, Instructions instructions) {
  return tables_for(instructions)[static_cast<std::size_t>(precision)];
}

}  // namespace tutti
