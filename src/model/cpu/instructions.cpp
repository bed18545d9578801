#include "model/cpu/instructions.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tutti {
namespace {

/// Whether this system lets us keep tiles (8 KiB of registers more at every switch of threads: a process has to request
/// them).
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

/// AMX-BF16, AMX-TILE and AMX-INT8, which g++ 12 does not know by name.
bool processor_has_tiles() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned kAll = 1U << 22 | 1U << 24 | 1U << 25;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kAll) == kAll;
}

Instructions find_best() {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Instructions::none;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq")) {
    return Instructions::avx2;
  }
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512bf16")) return Instructions::avx512;
  return processor_has_tiles() && may_use_tiles() ? Instructions::amx : Instructions::dot512;
}

}  // namespace

Instructions best_instructions() {
  static const Instructions best = find_best();
  return best;
}

bool has_avx2() {
  return best_instructions() >= Instructions::avx2;
}

bool multiplies_bfloat16() {
  return best_instructions() >= Instructions::dot512;
}

}  // namespace tutti
