#include "base/instruction_sets.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "base/environment.h"
#include "base/strings.h"

namespace tutti {
namespace {

using enum Instructions;

constexpr const char* kVariable = own_variables::kInstructions;

constexpr std::pair<Instructions, std::string_view> kNames[] = {
    {none, "none"}, {avx2, "avx2"}, {avxvnni, "avxvnni"}, {avx512, "avx512"},
    {vnni, "vnni"}, {bf16, "bf16"}, {amx, "amx"}};

/// Whether this system lets us keep tiles (8 KiB of registers more at every switch of threads: a process has to request
/// them).
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

struct CpuidLeaf {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

/// Leaf 7, whose features g++ 12 does not all know by name.
CpuidLeaf features(unsigned part) {
  CpuidLeaf leaf;
  const bool known = __get_cpuid_count(7, part, &leaf.a, &leaf.b, &leaf.c, &leaf.d) != 0;
  return known ? leaf : CpuidLeaf{};
}

bool has_avx_vnni() {
  return (features(1).a >> 4 & 1U) != 0;
}

/// AMX-BF16, AMX-TILE and AMX-INT8.
bool has_tiles() {
  constexpr unsigned kAll = 1U << 22 | 1U << 24 | 1U << 25;
  return (features(0).d & kAll) == kAll;
}

InstructionSets find_all() {
  InstructionSets found;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return found;
  found.add(avx2);
  if (has_avx_vnni()) found.add(avxvnni);
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq")) {
    return found;
  }
  found.add(avx512);
  if (__builtin_cpu_supports("avx512vnni")) found.add(vnni);
  if (__builtin_cpu_supports("avx512bf16")) found.add(bf16);
  if (found.has(vnni) && found.has(bf16) && has_tiles() && may_use_tiles()) found.add(amx);
  return found;
}

}  // namespace

std::string_view name_of(Instructions set) {
  return kNames[static_cast<std::size_t>(set)].second;
}

std::optional<Instructions> instructions_named(std::string_view name) {
  for (const auto& [set, text] : kNames) {
    if (text == name) return set;
  }
  return {};
}

InstructionSets::InstructionSets(std::initializer_list<Instructions> sets) {
  for (const auto set : sets) add(set);
}

InstructionSets InstructionSets::up_to(Instructions most) const {
  InstructionSets some;
  for (const auto set : all()) {
    if (set <= most) some.add(set);
  }
  return some;
}

std::vector<Instructions> InstructionSets::all() const {
  std::vector<Instructions> sets;
  for (const auto& [set, text] : kNames) {
    if (set != none && has(set)) sets.push_back(set);
  }
  return sets;
}

const InstructionSets& processor_instructions() {
  static const InstructionSets found = find_all();
  return found;
}

Result<InstructionSets> limited_instructions(const InstructionSets& processor, std::string_view most) {
  const std::string value = std::string(kVariable) + "=" + std::string(most);
  const auto set = instructions_named(most);
  const auto names = [](const auto& sets, const auto& name) { return joined(sets, ", ", name); };
  if (!set) {
    const auto known = names(kNames, [](const auto& pair) { return std::string(pair.second); });
    return fail(Fault::usage, value + ": no such set of instructions", "Use one of " + known);
  }
  if (!processor.has(*set)) {
    const auto there = names(processor.all(), [](Instructions one) { return std::string(name_of(one)); });
    return fail(Fault::usage, value + ": this processor lacks these instructions",
                "It has " + (there.empty() ? "none of those that are known" : there));
  }
  return processor.up_to(*set);
}

const Result<InstructionSets>& requested_instructions() {
  static const Result<InstructionSets> requested = [] {
    const auto most = variable(kVariable);
    return most ? limited_instructions(processor_instructions(), *most)
                : Result<InstructionSets>(processor_instructions());
  }();
  return requested;
}

const InstructionSets& usable_instructions() {
  const auto& requested = requested_instructions();
  if (!requested) throw std::invalid_argument(requested.error().text());
  return *requested;
}

}  // namespace tutti
