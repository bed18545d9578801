#include "model/cpu/matrix/kernels.h"

#include <array>

namespace tutti {
namespace {

using Tables = std::array<Kernels, 3>;  // one per precision

Tables tables(Kernels (*of)(Precision)) {
  return {of(Precision::float32), of(Precision::bfloat16), of(Precision::int8)};
}

const Tables& tables_for(Instructions instructions) {
  static const Tables avx2 = tables(kernels_avx2);
  static const Tables avx512 = tables(kernels_avx512);
  static const Tables dot512 = tables(kernels_dot512);
  static const Tables amx = tables(kernels_amx);
  switch (instructions) {
    case Instructions::amx: return amx;
    case Instructions::dot512: return dot512;
    case Instructions::avx512: return avx512;
    default: return avx2;
  }
}

}  // namespace

const Kernels& kernels(Precision precision, Instructions instructions) {
  return tables_for(instructions)[static_cast<std::size_t>(precision)];
}

}  // namespace tutti
