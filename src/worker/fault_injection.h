#pragma once

#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// A fault that a worker commits on purpose, so that supervision can be tested: `tutti-engine worker --fault …`.
struct InjectedFault {
  enum class Kind { crash, hang, garble };
  Kind kind = Kind::crash;
  std::int32_t after = 0;  // decodings answered before it happens
};

/// "crash-after=N", "hang-after=N" or "garble-after=N".
Result<InjectedFault> parse_fault(std::string_view text);

/// Commits the fault and does not return: abort, stop the whole process (no ping is answered either), or send noise
/// into `socket`.
[[noreturn]] void commit(const InjectedFault& fault, int socket);

}  // namespace tutti
