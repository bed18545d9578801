#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// A device by its figures alone: one that is emulated, or a GPU to plan for.
struct EmulatedSpec {
  double speed = 1;               ///< times real time; > 0
  std::optional<Bytes> memory{};  ///< none given: no bound
  std::string gpu{};              ///< after "@": the UUID of the (fake) GPU on which its memory and load appear
};

/// "emulated:30x:12GB", "emulated:0.5x", "emulated:30x:11.9GB@GPU-…". Memory is as parse_bytes has it: GB are powers of
/// ten, GiB of two. Fault::usage for anything else.
Result<EmulatedSpec> parse_emulated(std::string_view text);

/// "12GB:30x,8GB:12x", as `tutti plan --gpus` takes it: speed and memory in either order, both needed.
Result<std::vector<EmulatedSpec>> parse_gpu_figures(std::string_view text);

/// "12GB", "512 MiB", "100b": kB, MB, GB, KiB, MiB, GiB or B, in any case, at most 10^15 bytes; none for anything else.
std::optional<Bytes> parse_bytes(std::string_view text);

}  // namespace tutti
