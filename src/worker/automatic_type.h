#pragma once

#include <c10/core/Device.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "worker/compute_choice.h"
#include "worker/self_test.h"

namespace tutti {

/// What a self-test's result holds for: another device, driver, build or model may decide otherwise.
struct SelfTestScope {
  std::filesystem::path model{};
  std::string device{};  // with its driver where it has one, a CPU with the threads that are used of it
  std::string build{};
};

/// The compute type for `auto`: the fastest that passes the self-test on this device, and in `why` what was found. The
/// result is kept in cache_folder() and taken from there the next time; a cache that cannot be written costs a warning.
/// Where memory does not last for the test, the device's usual type.
Result<ComputeChoice> automatic_type(const SelfTestScope& scope, at::Device device, const DeviceAbility& ability);

/// What the trials come to. Kept in `file`, unless a type among them had no memory: next time there may be more.
ComputeChoice conclude(std::span<const TypeTrial> trials, const std::filesystem::path& file);

}  // namespace tutti
