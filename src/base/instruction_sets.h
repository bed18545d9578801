#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// What Tutti's own kernels are compiled to, in the order of TUTTI_INSTRUCTIONS. Files named *_<set>.cpp are compiled
/// to it (cmake/tutti_library.cmake). Without AVX2 (2013) every operator is torch's.
enum class Instructions : std::uint8_t {
  none,
  avx2,     // with FMA
  avxvnni,  // products of int8 and int16 in registers of 256 bits, beside AVX2: AVX-VNNI
  avx512,   // F, BW, VL, DQ
  vnni,     // products of int8 and int16 in registers of 512 bits: AVX512-VNNI
  bf16,     // products of bfloat16: AVX512-BF16
  amx,      // those of whole tiles: AMX-INT8, AMX-BF16, beside the two before
};

/// The name in TUTTI_INSTRUCTIONS.
std::string_view name_of(Instructions set);
std::optional<Instructions> instructions_named(std::string_view name);

/// Some of the sets. Each is there or not by itself: desktop processors have AVX-VNNI without AVX-512, virtual machines
/// hide AMX or BF16. A set is only there together with those that its files are compiled to.
class InstructionSets {
 public:
  InstructionSets() = default;
  InstructionSets(std::initializer_list<Instructions> sets);

  /// `none` is always there.
  bool has(Instructions set) const { return set == Instructions::none || (bits_ >> bit(set) & 1U) != 0; }
  void add(Instructions set) { bits_ |= 1U << bit(set); }
  /// Those that are at most `most` in the order of the names.
  InstructionSets up_to(Instructions most) const;
  /// In the order of the names, without `none`.
  std::vector<Instructions> all() const;
  bool operator==(const InstructionSets&) const = default;

 private:
  static unsigned bit(Instructions set) { return static_cast<unsigned>(set); }
  unsigned bits_ = 0;
};

/// Those that this processor has and this system lets us use. Requests the permission that AMX needs, once.
/// Thread-safe.
const InstructionSets& processor_instructions();

/// Those of `processor` that `most`, the value of TUTTI_INSTRUCTIONS, leaves. Fault::usage for a word that names no
/// set, and for a set that the processor lacks.
Result<InstructionSets> limited_instructions(const InstructionSets& processor, std::string_view most);

/// The processor's, limited by TUTTI_INSTRUCTIONS where that is set; read once. Programs call it at their start, so
/// that a value that is not valid is refused there. Thread-safe.
const Result<InstructionSets>& requested_instructions();

/// What kernels may use: `requested_instructions`. Throws std::invalid_argument where those are not valid.
const InstructionSets& usable_instructions();

}  // namespace tutti
